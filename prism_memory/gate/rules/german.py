"""German, and a little of its neighbours. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules.building import rules

WORDS: Final = {
    "DROP": "ignoriere|ignorieren sie|ignoriert|ignorieren|vergiss|vergesst|missachte"
    "|vergessen sie|missachten sie|missachtet|umgehe|umgehen sie|deaktiviere|verwirf"
    "|deaktivieren sie|überspringe|negeer|vergeet",
    "FORMER": "alle|all|sämtliche|vorherige*|vorige*|bisherige*|frühere*|obige*|deine*"
    "|eure|ihre|je|uw|deines|system*|sicherheits*",
    "TOLD": "anweisung*|vorgabe*|regel*|richtlinie*|instruktion*|systemprompt|prompt"
    "|filter|schutz*|einschränkung*|beschränkung*|sicherheitsregel*|systemanweisung*"
    "|sicherheitsrichtlini*|instructies|regels",
    "READER": "benutzer*|nutzer*|kunden|kunde|anwender*|besitzer*|gebruiker",
    "SECRET": "passwort|passwörter|zugangsdaten|api schlüssel|schlüssel|kennwort*|token"
    "|kreditkartennummer*|wachtwoorden|geheimnisse",
    "LATER": "ab jetzt|von nun an|ab sofort|künftig|in allen künftigen gesprächen"
    "|in allen zukünftigen gesprächen|in zukunft",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
    "SHOW": "zeige|zeig|gib|verrate|wiederhole|nenne|drucke|enthülle|schreibe|toon",
}
RULES: Final = (
    *rules(
        "ignore-instructions",
        "Asks the reader to drop what it was told.",
        "DROP ..2 !meine|meinen FORMER ..3 TOLD",
        "DROP [bitte] die (regeln|richtlinien|anweisungen) (deines|deiner|ihres|des entwicklers)",
        "(vergiss|vergesst|vergessen sie|ignoriere|ignorieren sie) alles ..1 was ..2 (vorher|zuvor|bisher|oben|gesagt)",
        "(befolge|befolgen sie|beachte|beachten sie) die ..1 TOLD (nicht|nicht mehr|nicht länger)",
        "(halte|halten sie) [dich|sich] nicht (mehr|länger) an ..2 TOLD",
        "(frühere*|bisherige*|vorherige*|obige*) TOLD (sind|gelten) ..3 (ungültig|nicht mehr|aufgehoben|nichtig) !sie",
        "(setze|setz|setzen sie) ..3 (richtlinien|regeln|filter|sicherheits*) ausser kraft",
        "(setze|setz|setzen sie) ..3 (richtlinien|regeln|filter|sicherheits*) außer kraft",
        "(umgehe|deaktiviere) (alle|deine) ..1 (filter|schutz*|regeln|sicherheits*)",
        "(deine|eure) neuen (anweisungen|aufgaben|regeln) (lauten|sind)",
        "diese (anweisung|nachricht|regel) hat (vorrang|priorität) vor",
        "(entwicklermodus|adminmodus) ..2 (und|hast|ohne)",
        "assistent ohne (regeln|moral|einschränkung*)",
        "ohne regeln und ohne moral",
        "als (hättest|habest) du (nie|niemals|kein*) ..2 (prompt|systemprompt|anweisung*|regeln)",
        "(hinweis|nachricht|anweisung|notiz) (an|für) [die|den|alle] (ki|assistent*|sprachmodell*|ki assistent*|bot)",
        words=WORDS,
    ),
    *rules(
        "system-prompt-exfil",
        "Asks for the instructions of the reader.",
        "SHOW [mir] ..1 (deine*|ihre*|je) ..2 (systemprompt|prompt|anweisungen|instruktionen|systemanweisung*|systeemprompt)",
        "SHOW [mir] die (geheimen|versteckten|internen) (regeln|anweisungen) die du",
        "wiederhole ..2 alles ..1 was (über|oberhalb) ..2 (zeile|nachricht|text)",
        "(systemprompt|prompt) (sehen|anzeigen|ausgeben)",
        words=WORDS,
    ),
    *rules(
        "secrecy-directive",
        "Asks the reader to hide something.",
        "(sag|sage|sagen sie|erzähle|erzähl|vertel) [es] (dem|der|den|de) READER ..2 (nichts|nicht|niets)",
        "READER (darf|soll|muss) ..2 (nichts|nicht) ..1 (erfahren|wissen|merken)",
        "ohne (den|das) READER zu (informieren|fragen|benachrichtigen|warnen)",
        "(erwähne|erwähnen sie) diese* (nachricht|anweisung|notiz|text) nicht",
        "(führe|führen sie) ..3 aus ohne (nachzufragen|rückfrage|bestätigung|zu fragen)",
        "ohne (rückfrage|bestätigung) aus",
        "(frage|frag|fragen sie) nicht (noch einmal|nach|erneut|mehr nach)",
        words=WORDS,
    ),
    *rules(
        "exfiltration-directive",
        "Asks to give secrets or conversations away.",
        "(sende|send|schicke|schick|senden sie|leite|lade|übermittle|stuur) ..3 SECRET ~40 (an|auf|naar) ..2 (ADDRESS|https*|folgende|diese adresse)",
        "(leite|sende|schicke) (jede|alle) ..1 (nachricht*|gespräch*|daten) ~40 (an|weiter)",
        words=WORDS,
    ),
    *rules(
        "persistent-override",
        "Wants to hold in later conversations too.",
        "LATER (musst|sollst|darfst|antwortest|wirst) du ..2 (immer|nie|niemals|nur|diesen|die)",
        "LATER ..1 du ..2 (immer|nie|niemals|nur)",
        "LATER (antwortest|sagst|nennst) du",
        "jedes mal wenn (der|die|ein) READER ~50 (verweise|empfiehl|sage|nenne|sende)",
        words=WORDS,
    ),
    *rules(
        "memory-poisoning",
        "Plants a rule in what the reader will remember.",
        "(merke|merk|merken sie) [dir|sich] diese (regel|anweisung) ..1 (dauerhaft|für immer|permanent)",
        "(speichere|merke|speicher) ..2 (in deinem|in dein) (gedächtnis|speicher) ~60 (vertrauenswürdig*|immer|genehmigt|regel|nie)",
        "(lösche|vergiss) alle (erinnerungen|notizen) an [die] (warnung*|sicherheits*|schulung*)",
        words=WORDS,
    ),
    *rules(
        "self-vouching",
        "Says of itself that it is to be trusted.",
        "diese (nachricht|anweisung|seite|notiz) ist ..1 (geprüft|vertrauenswürdig|verifiziert|genehmigt) ..1 (und|führe|vertrauenswürdig)",
        "(ich bin|als) dein (entwickler|schöpfer|administrator)",
        "als administrator (erlaube|befehle|gestatte) ich dir",
        words=WORDS,
    ),
    *rules(
        "approval-by-proxy",
        "Claims that somebody has said yes.",
        "READER hat ..1 (zugestimmt|genehmigt|eingewilligt|bestätigt) ~20 (frage nicht|frag nicht|ohne|alle künftigen|jetzt)",
        "alle (künftigen|zukünftigen) ..1 (werkzeugaufrufe|aktionen|zahlungen) sind ..2 genehmigt",
        "alle (künftigen|zukünftigen) ..1 sind ..3 genehmigt",
        words=WORDS,
    ),
    *rules(
        "tool-order",
        "Orders a tool to be run.",
        "(rufe|ruf|nutze|verwende) das (werkzeug|tool) (zum|zur|für|mit)",
        "(dekodiere|entschlüssele|decodiere) ..4 (text|zeichenfolge|base64*) [text] und (befolge|führe)",
        words=WORDS,
    ),
)

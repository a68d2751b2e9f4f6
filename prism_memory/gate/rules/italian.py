"""Italian. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules.building import rules

WORDS: Final = {
    "DROP": "ignora|ignorate|ignorare|dimentica|dimenticate|scarta|aggira|disattiva"
    "|non seguire|non tenere conto delle|non tenere conto di|salta|trascura|tralascia",
    "TOLD": "istruzioni|indicazioni|regole|direttive|filtri|protezioni|restrizioni"
    "|prompt|messaggio di sistema|ordini|vincoli",
    "FORMER": "precedenti|di cui sopra|sopra|di sistema|di sicurezza|iniziali|ricevute"
    "|del tuo sviluppatore|dello sviluppatore|del sistema",
    "READER": "utente|cliente|proprietario",
    "SECRET": "password|credenziali|chiave api|chiavi api|token|segreti|numero di carta",
    "LATER": "d ora in poi|da adesso in poi|da ora in poi|da adesso"
    "|in tutte le conversazioni future|in tutte le future conversazioni",
    "SHOW": "rivela|mostra|mostrami|mostrarmi|ripeti|dimmi|stampa|traduci|dammi|scrivi",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
}
RULES: Final = (
    *rules(
        "ignore-instructions",
        "Asks the reader to drop what it was told.",
        "DROP (le tue|le vostre|i tuoi|tutte le tue|le sue|tuoi) ..1 TOLD",
        "DROP ..1 (tutte|tutti|le|i|il|delle|indicazioni) ..1 TOLD ..1 FORMER",
        "(non tenere|non tener) conto delle ..1 (istruzioni|indicazioni|regole)",
        "DROP il messaggio di sistema",
        "DROP i filtri",
        "(dimentica|ignora|scorda) tutto (quello|ciò) che ~20 (prima|detto|precede)",
        "(istruzioni|regole) precedenti (sono|vengono) (annullate|revocate|nulle)",
        "(istruzione|messaggio|regola) ha la (priorità|precedenza) su (tutte|tutto)",
        "(sei|siete) [ora] in modalità (sviluppatore|amministratore)",
        "nuove istruzioni per (l|il|gli) (assistente|assistenti|ia|modello)",
        "(nota|avviso|messaggio) per (l|gli|il|la) (ia|assistente|assistenti|modello)",
        "assistente senza (regole|limiti|morale|restrizioni)",
        "(rispondi|continua) senza (restrizioni|filtri|limiti)",
        words=WORDS,
    ),
    *rules(
        "system-prompt-exfil",
        "Asks for the instructions of the reader.",
        "SHOW ..2 (il tuo|le tue|tuo|tue|vostre) ..1 (prompt|istruzioni) [di|del|iniziali|segrete|nascoste]",
        "SHOW ..1 il prompt di sistema",
        "(ripeti|mostra|copia) tutto (ciò|quello) che ~20 (sopra|precede)",
        "(quali|cosa) sono le tue (istruzioni|regole)",
        words=WORDS,
    ),
    *rules(
        "secrecy-directive",
        "Asks the reader to hide something.",
        "non (dire|dite|rivelare) (niente|nulla) (all|al|alla) READER",
        "READER non deve ..1 (saperlo|sapere|scoprirlo|accorgersene)",
        "senza (avvisare|informare|consultare) (il|l|la) READER",
        "non (menzionare|citare|parlare di) ..1 questo (messaggio|ordine|testo)",
        "(esegui|eseguilo|fai) ..3 senza (chiedere|conferma|controll*|domande)",
        "non chiedere di nuovo",
        words=WORDS,
    ),
    *rules(
        "exfiltration-directive",
        "Asks to give secrets or conversations away.",
        "(invia|manda|inoltra|carica|trasmetti|pubblica) ..3 SECRET ~40 (a|su|all) ..2 (ADDRESS|https*|questo indirizzo)",
        "(inoltra|invia|manda) (ogni|tutti i|tutta la) ..1 (messaggi*|conversazion*) ~40 a ADDRESS",
        words=WORDS,
    ),
    *rules(
        "persistent-override",
        "Wants to hold in later conversations too.",
        "LATER (devi|dovrai|dovete|non menzionare|sei) ..2 (sempre|mai|assistente|solo)",
        "LATER (inserisci|aggiungi|includi|consiglia) ..1 (questo|sempre|il link)",
        "ogni volta che (l utente|qualcuno|il cliente) ~50 (consiglia|invia|rispondi|proponi|di)",
        words=WORDS,
    ),
    *rules(
        "memory-poisoning",
        "Plants a rule in what the reader will remember.",
        "(ricorda|memorizza) questa (regola|istruzione|norma)",
        "(salva|memorizza|aggiungi|registra) (nella|alla) tua memoria ~60 (affidabile|fidata|sempre|mai|approvat*|regola)",
        "(cancella|elimina|dimentica) tutti i ricordi ..3 (avvertiment*|avvisi|sicurezza)",
        words=WORDS,
    ),
    *rules(
        "self-vouching",
        "Says of itself that it is to be trusted.",
        "(questo messaggio|questa nota|questa pagina|questa istruzione) è ..1 (verificat*|affidabile|sicur*|approvat*) ..1 (e|esegui*|affidabile)",
        "sono il tuo (sviluppatore|creatore|amministratore)",
        "come amministratore ti (autorizzo|permetto|ordino)",
        words=WORDS,
    ),
    *rules(
        "approval-by-proxy",
        "Claims that somebody has said yes.",
        "READER ha già (dato|approvato|accettato|acconsentito) ~30 (non chiedere|senza)",
        "(chiamate agli strumenti|azioni|pagamenti) [future|futuri] sono ..1 (approvat*|autorizzat*) dal proprietario",
        words=WORDS,
    ),
    *rules(
        "tool-order",
        "Orders a tool to be run.",
        "(chiama|usa|esegui|lancia) lo strumento (di|per|del)",
        "(decodifica|decifra) ..4 base64 ..1 ed* (esegui*|segui*|obbedisci)",
        words=WORDS,
    ),
)

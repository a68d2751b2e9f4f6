"""German."""

from __future__ import annotations

from typing import Final

from prism_memory.facts.conflict.packs import Pack, markers, words

WHO: Final = r"(?:ich|er|sie|wir)"

PACK: Final = Pack(
    language="de",
    supersedes=markers(
        {
            "umgezogen": (r"(?:um|weg|hin)gezogen|(?:zog|zieht|ziehe) nach", 0.9),
            "gezogen": (r"(?:nach|in) \S+(?: \S+)? gezogen", 0.85),
            "wohnt jetzt": (
                r"(?:wohn|leb|arbeit)\w* (?:jetzt|nun|inzwischen|mittlerweile)",
                0.9,
            ),
            "jetzt in": (r"(?:jetzt|nun|inzwischen) (?:in|bei|als)", 0.8),
            "neue stelle": (
                r"neue[nrs]? (?:stelle|job|arbeitgeber|arbeit|position|chef\w*)",
                0.85,
            ),
            "befördert": (r"(?:wurde|worden|ist|bin) befördert|befördert worden", 0.85),
            "gekündigt": (r"gekündigt|entlassen", 0.8),
            "gewechselt": (
                r"(?:gewechselt|umgestiegen|wechselte|wechselt) ?(?:zu|auf)?",
                0.8,
            ),
            "meinung geändert": (r"(?:meinung|ansicht) geändert", 0.85),
            "bevorzugt": (rf"{WHO} (?:jetzt )?bevorzug(?:e|t|en)|jetzt lieber", 0.6),
            "geheiratet": (
                r"geheiratet|geschieden|verlobt|(?:ist|sind) jetzt verheiratet",
                0.85,
            ),
            "getrennt": (r"(?:haben|hat|habe) (?:sich|mich|uns) getrennt", 0.85),
            "diagnostiziert": (r"diagnostiziert", 0.7),
            "genesen": (r"genesen|wieder gesund", 0.75),
            "früher": (r"früher|ehemals|vormals|zuvor", 0.7),
            "ist jetzt": (r"(?:ist|sind|bin) (?:jetzt|nun|inzwischen)", 0.8),
        }
    ),
    negations=markers(
        {
            "nicht mehr": (r"nicht mehr|kein\w* \S+ mehr|kein\w* mehr", 0.9),
            "nicht länger": (r"nicht länger", 0.9),
            "aufgehört": (r"aufgehört|aufgegeben", 0.8),
            "nie": (r"nie(?:mals)?", 0.6),
            "kein fan": (r"kein(?:e)? fan von|nicht interessiert an", 0.75),
            "ist nicht": (r"(?:ist|sind|war|waren|bin) (?:nicht|kein\w*)", 0.7),
            "mag nicht": (r"mag (?:\S+ ){0,3}(?:nicht|kein\w*)", 0.7),
        }
    ),
    verbs=words(
        "wohnt wohne wohnen lebt lebe leben arbeitet arbeite arbeiten bevorzugt"
        " bevorzuge fährt fahre nutzt nutze benutzt verdient verdiene wiegt wiege"
        " studiert studiere besucht leitet leite kostet misst"
    ),
    articles=words(
        "der die das den dem des ein eine einen einem einer eines mein meine meinen"
        " dein deine sein seine ihr ihre unser unsere euer eure dieser diese dieses"
    ),
    quantities=words(
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
        " dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig"
        " dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend"
        " million millionen halb halbe dutzend einmal zweimal dreimal"
        " erste ersten zweite zweiten dritte dritten vierte vierten fünfte fünften"
        " montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
        " montags dienstags mittwochs donnerstags freitags samstags sonntags"
        " januar jänner februar märz april mai juni juli august september oktober"
        " november dezember frühling sommer herbst winter mittag mitternacht"
        " heute gestern morgen vorgestern übermorgen"
    ),
)

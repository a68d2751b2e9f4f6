"""French."""

from __future__ import annotations

from typing import Final

from prism_memory.facts.conflict.packs import Pack, markers, words

NOT: Final = r"n(?:e |')"

PACK: Final = Pack(
    language="fr",
    supersedes=markers(
        {
            "déménagé": (r"(?:a|ai|ont|avons) déménagé|s'est installée? à", 0.9),
            "habite maintenant": (
                r"(?:habite|vis|vit|travaille|réside) (?:maintenant|désormais)",
                0.9,
            ),
            "maintenant": (r"(?:maintenant|désormais) (?:à|chez|en)", 0.8),
            "nouvel emploi": (
                r"nouve(?:au|l|lle) (?:emploi|poste|travail|employeur|boulot)",
                0.85,
            ),
            "promu": (r"(?:été|est) promue?", 0.85),
            "démissionné": (r"démissionné|licenciée?", 0.8),
            "passé à": (r"(?:est|suis) passée? (?:à|chez)|changé (?:de|d')", 0.8),
            "changé d'avis": (r"changé d'avis", 0.85),
            "préfère": (
                r"(?:je|il|elle) préfère|préfère (?:maintenant|désormais)",
                0.6,
            ),
            "marié": (r"s'est (?:mariée?|fiancée?)|divorcé|se sont mariés", 0.85),
            "rompu": (r"(?:ont|a|avons) rompu|séparés?", 0.8),
            "diagnostiqué": (r"diagnostiquée?", 0.7),
            "guéri": (r"guérie? (?:de|du)|rétablie?", 0.75),
            "autrefois": (r"autrefois|auparavant|anciennement", 0.7),
            "est maintenant": (r"(?:est|suis|sont) (?:maintenant|désormais)", 0.8),
        }
    ),
    negations=markers(
        {
            "ne plus": (rf"{NOT}\S+(?: \S+)? plus", 0.9),
            "cessé": (r"(?:a|ai|ont) (?:cessé|arrêté) (?:de|d')", 0.8),
            "ne pas": (rf"{NOT}\S+(?: \S+)? pas", 0.7),
            "jamais": (rf"{NOT}\S+(?: \S+)? jamais", 0.6),
            "pas fan": (r"pas (?:fan|intéressée?)", 0.75),
        }
    ),
    verbs=words(
        "habite habitent vit vis vivent travaille travaillent préfère préfèrent réside"
        " conduit utilise gagne pèse étudie fréquente dirige coûte mesure"
    ),
    articles=words(
        "le la les l' un une des du mon ma mes ton ta tes son sa ses notre nos votre"
        " vos leur leurs ce cet cette ces"
    ),
    quantities=words(
        "zéro deux trois quatre cinq six sept huit neuf dix onze douze treize"
        " quatorze quinze seize vingt trente quarante cinquante soixante cent cents"
        " mille million millions demi douzaine premier première deuxième second seconde"
        " troisième quatrième cinquième"
        " lundi mardi mercredi jeudi vendredi samedi dimanche"
        " janvier février mars avril mai juin juillet août septembre octobre novembre"
        " décembre printemps été automne hiver midi minuit aujourd'hui hier demain"
    ),
)

"""French. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules.building import rules

WORDS: Final = {
    "DROP": "ignore|ignorez|ignorer|oublie|oubliez|contourne|contournez|désactive"
    "|désactivez|fais abstraction de|faites abstraction de|ne tiens pas compte de"
    "|ne tiens pas compte des|ne tenez pas compte des|ne suis plus|ne suis pas"
    "|ne respecte plus|ne suivez plus|fais fi de|saute",
    "WHOSE": "tes|vos|toutes les|tous les|les|des|ces|ton|votre|ta",
    "TOLD": "instructions|consignes|directives|règles|garde fous|filtres|protections"
    "|restrictions|prompt|garde fou|limites",
    "FORMER": "précédente*|antérieure*|ci dessus|du système|de ton développeur|initiales"
    "|de votre développeur|de sécurité|reçues|du développeur|ci avant|système",
    "READER": "utilisateur|utilisatrice|client|propriétaire",
    "SECRET": "mots de passe|mot de passe|identifiants|clé api|clés api|jetons|jeton"
    "|secrets|numéro de carte",
    "LATER": "désormais|à partir de maintenant|dorénavant|à l avenir"
    "|dans toutes les conversations futures|dans toutes les conversations à venir",
    "SHOW": "révèle|révélez|affiche|affichez|montre|montrez|donne|répète|répétez"
    "|imprime|traduis|dis|dis moi|montrer|écris",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
}
RULES: Final = (
    *rules(
        "ignore-instructions",
        "Asks the reader to drop what it was told.",
        "DROP (tes|vos|ton|votre|toutes tes|toutes vos) ..1 TOLD",
        "DROP ..2 (toutes|tous|les|des) ..1 TOLD ..1 FORMER",
        "DROP ..1 TOLD FORMER",
        "(consignes|instructions|directives|règles) FORMER (sont|n existent|ne sont) ..1 (annulé*|plus valables|caduques|nulles)",
        "(oublie|oubliez|ignore|ignorez) tout ce qu* ~20 (avant|dit|précède|précédemment)",
        "(instructions|consignes|directives) antérieures",
        "ne (suis|suivez) plus les (consignes|instructions|règles)",
        "(consigne|instruction|message) (prévaut|l emporte|prime) sur (toutes|tout|les)",
        "(tu es|vous êtes) [maintenant] en mode (développeur|administrateur|sans|débridé)",
        "(nouvelles) (instructions|consignes) pour (l|les|tout|le) (assistant*|ia|modèle)",
        "(note|avis|message|instruction*) (à|pour|aux) [l|les|la|tout|toute] (ia|assistants ia|assistant*|assistants|modèle*)",
        "assistant sans (règles|limites|morale|restrictions)",
        "comme si (tu n avais|vous n aviez) jamais ..1 (reçu|eu) ..1 (consignes|instructions|prompt)",
        "(réponds|répondez|continue) sans (restriction*|filtre*|limite*)",
        words=WORDS,
    ),
    *rules(
        "system-prompt-exfil",
        "Asks for the instructions of the reader.",
        "SHOW ..2 (ton|votre|tes|vos) ..1 (prompt|instructions|consignes) [système|initiales|secrètes|cachées]",
        "(répète|répétez|affiche|recopie) tout ce qui ~20 (au dessus|précède|ci dessus)",
        "(quelles|quels) sont (tes|vos) (consignes|instructions|règles)",
        words=WORDS,
    ),
    *rules(
        "secrecy-directive",
        "Asks the reader to hide something.",
        "ne (dis|dites|révèle|mentionne) (rien|pas) ..2 (à l|au) READER",
        "READER ne doit (pas|jamais|rien) ..1 (le savoir|savoir|apprendre|l apprendre)",
        "sans (prévenir|informer|avertir|consulter) (le|la|l) READER",
        "ne (mentionne|mentionnez|parle) (pas|jamais) ..1 (ce|cette|cet) (message|consigne|note|instruction)",
        "(exécute|exécutez|effectue) ..4 sans (demander|confirmation|prévenir|contrôle|vérif*)",
        "ne (redemande|demande|redemandez) (pas|plus)",
        words=WORDS,
    ),
    *rules(
        "exfiltration-directive",
        "Asks to give secrets or conversations away.",
        "(envoie|envoyez|transmets|transmettez|transfère|télécharge|publie|poste) ..3 SECRET ~40 (à|vers|sur) ..2 (ADDRESS|https*|cette adresse|l adresse)",
        "(transfère|envoie|transmets) (chaque|tous les|toute la|tout le) ..1 (message*|conversation*) ~40 (à|vers) ..1 ADDRESS",
        words=WORDS,
    ),
    *rules(
        "persistent-override",
        "Wants to hold in later conversations too.",
        "LATER (tu dois|vous devez|tu devras|ne parle*|tu es un|ne mentionne*|tu es) ..2 (toujours|jamais|assistant|que|sans)",
        "LATER (ajoute|ajoutez|inclus|recommande|mentionne) ..1 (ce lien|toujours|ce code|uniquement)",
        "chaque fois que (l utilisateur|quelqu un|le client) ~50 (propose|recommande|envoie|réponds|dis)",
        words=WORDS,
    ),
    *rules(
        "memory-poisoning",
        "Plants a rule in what the reader will remember.",
        "(retiens|mémorise|retenez) cette (règle|consigne|instruction)",
        "(enregistre|retiens|sauvegarde|ajoute) (dans|à) (ta|votre) mémoire ~60 (fiable|confiance|toujours|jamais|approuv*|règle)",
        "(efface|supprime|oublie) tous les souvenirs ..3 (avertissement*|sécurité|alertes)",
        words=WORDS,
    ),
    *rules(
        "self-vouching",
        "Says of itself that it is to be trusted.",
        "(ce message|cette consigne|cette note|cette page) est ..1 (vérifié*|fiable|approuvé*|sûr*) ..1 (exécute*|fiable|et)",
        "je suis (ton|votre) (développeur|créateur|administrateur)",
        "en tant qu administrateur je (t autorise|vous autorise|te permets)",
        words=WORDS,
    ),
    *rules(
        "approval-by-proxy",
        "Claims that somebody has said yes.",
        "READER a déjà ..1 (donné|approuvé|accepté|consenti) ~30 (ne redemande|ne demande|sans|tous)",
        "(appels d outils|actions|paiements|transactions) (à venir|futurs|futures) sont ..1 (approuvé*|autorisé*)",
        words=WORDS,
    ),
    *rules(
        "tool-order",
        "Orders a tool to be run.",
        "(appelle|utilise|lance|exécute) l outil (de|d|pour)",
        "(décode|décodez|déchiffre) ..3 (texte|base64) ..2 et (exécute*|suis|suivez|obéis)",
        words=WORDS,
    ),
)

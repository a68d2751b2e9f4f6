"""Spanish."""

from __future__ import annotations

from typing import Final

from prism_memory.facts.conflict.packs import Pack, markers, words

PACK: Final = Pack(
    language="es",
    supersedes=markers(
        {
            "se mudó": (
                r"(?:se|me|nos) (?:mudó|mudé|mudamos|ha mudado|he mudado)",
                0.9,
            ),
            "ahora vive": (r"ahora (?:vive|vivo|trabaja|trabajo|reside)", 0.9),
            "vive ahora": (r"(?:vive|vivo|trabaja|trabajo) ahora", 0.9),
            "nuevo trabajo": (
                r"nuev[oa] (?:trabajo|empleo|puesto|empresa|jef[ea])",
                0.85,
            ),
            "ascendido": (r"(?:fue|fui|ha sido) ascendid[oa]|ascendieron", 0.85),
            "renunció": (r"renunció|renuncié|despidieron|despedid[oa]", 0.8),
            "cambió a": (r"(?:cambió|cambié|se pasó|me pasé) (?:a|de)", 0.8),
            "cambió de opinión": (r"cambi\w+ de (?:opinión|idea|parecer)", 0.85),
            "prefiere": (r"(?:yo|él|ella) prefier[eo]|ahora prefier[eo]", 0.6),
            "se casó": (
                r"(?:se|me|nos) (?:casó|casé|casaron|divorció|divorcié|comprometió)",
                0.85,
            ),
            "rompieron": (r"rompieron|rompimos|se separaron", 0.8),
            "diagnosticado": (r"diagnosticad[oa]|diagnosticaron", 0.7),
            "recuperado": (r"(?:se|me) recuper\w+|recuperad[oa] de", 0.75),
            "antes": (r"antiguamente|anteriormente|solía", 0.7),
            "ahora es": (r"ahora (?:es|está|soy|estoy|son)|es ahora", 0.8),
        }
    ),
    negations=markers(
        {
            "ya no": (r"ya no", 0.9),
            "dejó de": (r"dej(?:ó|é|aron|ado) de", 0.8),
            "no": (
                r"no (?:[ml]e gusta|es|está|viv[eo]|trabaj[ao]|tiene|come)",
                0.7,
            ),
            "nunca": (r"nunca|jamás", 0.6),
        }
    ),
    verbs=words(
        "vive vivo viven reside trabaja trabajo trabajan prefiere prefiero conduce usa"
        " gana pesa estudia dirige cuesta mide"
    ),
    articles=words(
        "el la los las lo un una unos unas mi mis tu tus su sus nuestro nuestra este"
        " esta estos estas ese esa"
    ),
    quantities=words(
        "cero dos tres cuatro cinco seis siete ocho nueve diez once doce"
        " trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta"
        " cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil millón"
        " millones medio media docena primero primera segundo segunda tercero tercera"
        " lunes martes miércoles jueves viernes sábado domingo"
        " enero febrero marzo abril mayo junio julio agosto septiembre octubre"
        " noviembre diciembre primavera verano otoño invierno mediodía medianoche hoy"
        " ayer mañana"
    ),
)

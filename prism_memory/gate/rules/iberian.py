"""Spanish and Portuguese. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules.building import rules

SPANISH: Final = {
    "DROP": "ignora|ignoren|ignore|ignorar|olvida|olvide|olvídate de|descarta|omite|omitan"
    "|desactiva|desactive|desobedece|no sigas|no siga|haz caso omiso de|elude|evita",
    "TOLD": "instrucciones|indicaciones|reglas|normas|directrices|filtros|protecciones"
    "|restricciones|prompt|órdenes|mensaje del sistema|salvaguardas",
    "FORMER": "anteriores|previas|previos|de arriba|del sistema|de seguridad|iniciales"
    "|de tu desarrollador|de su desarrollador|que recibiste|del desarrollador|recibidas",
    "READER": "usuario|cliente|usuaria|dueño|propietario",
    "SECRET": "contraseñas|contraseña|credenciales|clave de api|claves de api|tokens"
    "|token|secretos|número de tarjeta|claves",
    "LATER": "a partir de ahora|de ahora en adelante|desde ahora|en adelante"
    "|en todas las conversaciones futuras|en todas las futuras conversaciones",
    "SHOW": "revela|muestra|muéstrame|repite|dime|imprime|enseña|enseñarme|traduce|da"
    "|escribe|revele|muestre",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
}
PORTUGUESE: Final = {
    "DROP": "ignore|ignora|ignorem|ignorar|esqueça|esquece|desconsidere|descarte"
    "|contorne|desative|não siga|não sigas|burle|pule|desconsidera",
    "TOLD": "instruções|orientações|regras|diretrizes|filtros|proteções|restrições"
    "|prompt|mensagem do sistema|ordens|indicações|normas",
    "FORMER": "anteriores|prévias|acima|do sistema|de segurança|iniciais|recebidas"
    "|do seu desenvolvedor|do desenvolvedor|do teu programador",
    "READER": "usuário|utilizador|cliente|dono|usuária|proprietário",
    "SECRET": "senhas|senha|credenciais|chave de api|chaves de api|tokens|segredos"
    "|palavras passe|palavra passe|número do cartão",
    "LATER": "a partir de agora|de agora em diante|daqui em diante"
    "|em todas as conversas futuras|em todas as futuras conversas",
    "SHOW": "revele|mostre|mostra|repita|diga|imprima|revela|traduza|mostrar me|escreva",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
}
RULES: Final = (
    *rules(
        "ignore-instructions",
        "Asks the reader to drop what it was told.",
        "DROP (tus|sus|todas tus|todas sus|tu) ..1 TOLD",
        "DROP ..1 (todas|todos|las|los|el) ..1 TOLD ..1 FORMER",
        "DROP el mensaje del sistema",
        "DROP los filtros",
        "(no tengas|no tenga) en cuenta las (directrices|instrucciones|reglas|normas)",
        "(olvida|olvide|ignora|ignore) todo lo que ~20 (antes|dijeron|anterior|han dicho)",
        "(instrucciones|reglas|órdenes) (anteriores|previas) (quedan|están|ya no) ..1 (anuladas|canceladas|valen|son)",
        "(instrucción|mensaje|regla) tiene prioridad sobre todas",
        "(estás|está) [ahora] en modo (desarrollador|administrador|dios)",
        "nuevas instrucciones para (el|la|los|tu) (asistente*|ia|modelo)",
        "(nota|aviso|mensaje) para [la|los|el|las] (ia|asistente*|asistentes de ia|modelo*|modelos)",
        "asistente sin (reglas|límites|moral|restricciones)",
        "como si nunca hubieras ..1 (recibido|tenido) ..1 (instrucciones|reglas|prompt)",
        "(responde|contesta) sin (restricciones|filtros|límites)",
        words=SPANISH,
    ),
    *rules(
        "ignore-instructions",
        "Asks the reader to drop what it was told.",
        "DROP [todas] (as suas|as tuas|suas|tuas|todas as suas|o seu|os) ..1 TOLD",
        "DROP ..1 (todas|todos|as|os|a) ..1 TOLD ..1 FORMER",
        "DROP a mensagem do sistema",
        "(esqueça|esquece|ignore) tudo o que ~20 (antes|disseram|anterior)",
        "(instruções|regras|ordens) (anteriores|prévias) (estão|ficam|foram) ..1 (anuladas|canceladas|revogadas)",
        "(instrução|mensagem|regra) tem prioridade sobre todas",
        "em modo (desenvolvedor|programador|administrador) e",
        "novas instruções para (o|a|os) (assistente*|ia|modelo)",
        "(nota|aviso|mensagem) para [a|os|o|as] (ia|assistente*|assistentes de ia|modelo*)",
        "assistente sem (regras|limites|moral|restrições)",
        "(responda|responde) sem (restrições|filtros|limites)",
        words=PORTUGUESE,
    ),
    *rules(
        "system-prompt-exfil",
        "Asks for the instructions of the reader.",
        "SHOW ..2 (tu|tus|su|sus) ..1 (prompt|instrucciones) [del|de|iniciales|secretas|ocultas]",
        "SHOW ..1 el prompt del sistema",
        "(repite|muestra|copia) todo lo que ~20 (encima|arriba|anterior)",
        "(cuáles|qué) son tus (instrucciones|reglas)",
        words=SPANISH,
    ),
    *rules(
        "system-prompt-exfil",
        "Asks for the instructions of the reader.",
        "SHOW ..2 (o seu|as suas|os teus|seu|suas|teu) ..1 (prompt|instruções) [de|do|iniciais|secretas]",
        "SHOW ..1 o prompt (do|de) sistema",
        "(repita|mostre|copie) tudo o que ~20 (acima|anterior)",
        "(quais|que) são as suas (instruções|regras)",
        words=PORTUGUESE,
    ),
    *rules(
        "secrecy-directive",
        "Asks the reader to hide something.",
        "no [le] (digas|diga|cuentes|reveles) nada (al|a la|a tu) READER",
        "READER no debe ..1 (saberlo|saber|enterarse|conocer)",
        "sin (avisar|informar|decir|consultar) (al|a la) READER",
        "no (menciones|mencione|hables de) ..1 (este|esta|estas) (mensaje|instrucción|nota|instrucciones)",
        "(ejecuta|ejecute|haz|ejecútalo) ..3 sin (pedir|confirmar|comprobar|confirmación|preguntar)",
        "no vuelvas a preguntar",
        words=SPANISH,
    ),
    *rules(
        "secrecy-directive",
        "Asks the reader to hide something.",
        "não (conte|diga|revele|contes) nada (ao|à) READER",
        "READER não (pode|deve) ..1 (saber|descobrir)",
        "sem (avisar|informar|consultar) (o|a|ao) READER",
        "não (mencione|menciones|fale de) ..1 (esta|este|estas) (mensagem|instrução|nota)",
        "(execute|executa|execute a|faça) ..3 sem (pedir|confirmar|checar|verificar|perguntar)",
        "não pergunte de novo",
        words=PORTUGUESE,
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "exfiltration-directive",
            "Asks to give secrets or conversations away.",
            "(envía|envíe|manda|mande|sube|suba|reenvía|transmite|envie|envia|encaminhe|publica) ..3 SECRET ~40 (a|para|en|ao) ..2 (ADDRESS|https*|esta dirección|este endereço)",
            "(reenvía|envía|manda|encaminhe|envie|mande) (cada|todos los|todas as|todos os|toda la|toda a) ..1 (mensaje*|conversación|mensagem|mensagens|conversa*) ~40 (a|para) ..1 ADDRESS",
            words=words,
        )
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "persistent-override",
            "Wants to hold in later conversations too.",
            "LATER [você|tú] (debes|debe|tienes que|deve|deves|tem que) ..2 (siempre|nunca|sempre|jamais)",
            "LATER (nunca|siempre|sempre|jamás) (menciones|mencione|menciona|recomiendes|recomenda|recomende|hables)",
            "LATER (eres|você é|és) [un|um] (asistente|assistente)",
            "LATER (incluye|incluya|añade|inclua|adicione|recomienda) (este|siempre|esse) ..1",
            "cada vez que (el usuario|alguien|o usuário|o utilizador) ~50 (recomienda|recomende|envía|envie|responde|responda|di|diga)",
            words=words,
        )
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "memory-poisoning",
            "Plants a rule in what the reader will remember.",
            "(recuerda|memoriza|lembre se d|lembre se|memorize) (esta|desta) (regla|regra|instrucción|instrução|norma)",
            "(guarda|guarde|añade|salve|adicione|guarda) (en|na|a|à) [tu|sua|tua] memoria ~60 (confianza|confiável|siempre|sempre|nunca|aprobad*|aprovad*|regla|regra)",
            "(borra|apague|elimina|apaga|borre) (todos los recuerdos|todas as memórias|todas as lembranças) ..2 (advertencia*|aviso*|seguridad|segurança)",
            words=words,
        )
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "self-vouching",
            "Says of itself that it is to be trusted.",
            "(este mensaje|esta nota|esta página|esta mensagem|esta instrucción|este texto) (está|es|é) ..1 (verificado|verificada|confiável|seguro|de confianza) ..1 (y|e|es|ejecútalo|execute)",
            "(soy|sou) [o] (tu|su|seu|teu) (desarrollador|desenvolvedor|creador|criador|programador)",
            "como administrador (te|lhe|o) (autorizo|permito)",
            words=words,
        )
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "approval-by-proxy",
            "Claims that somebody has said yes.",
            "READER (ya|já) (dio|deu|ha dado|aprobó|aprovou|aceptó|aceitou) ~30 (no vuelvas|no preguntes|não pergunte|sin|sem)",
            "(herramientas|ferramentas|pagos|pagamentos) (futuras|futuros) (están|estão|foram|são) (aprobad*|aprovad*|autorizad*)",
            words=words,
        )
    ),
    *(
        rule
        for words in (SPANISH, PORTUGUESE)
        for rule in rules(
            "tool-order",
            "Orders a tool to be run.",
            "(llama|usa|utiliza|ejecuta|chame|use|execute) (a la|la|a|o|à) (herramienta|ferramenta) (de|para|do)",
            "(decodifica|descifra|decodifique|decifre) ..4 base64 ..2 (y|e) (ejec*|sig*|obedec*|exec*)",
            words=words,
        )
    ),
)

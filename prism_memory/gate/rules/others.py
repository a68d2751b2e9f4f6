"""A few orders in languages of other scripts and families. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.values import Rule

IGNORE: Final = "Asks the reader to drop what it was told."
PROMPT: Final = "Asks for the instructions of the reader."
HIDE: Final = "Asks the reader to hide something."
GIVE: Final = "Asks to give secrets away."
W: Final = r"(?:\w{1,20}\s){0,3}?"

RULES: Final = (
    Rule(
        "ignore-instructions",
        rf"\b(?:zignoruj|pomiń|zapomnij)\s{W}(?:instrukcj|polece|zasad)\w{{0,6}}",
        IGNORE,
        ("zignoruj", "pomin", "zapomnij"),
    ),
    Rule(
        "system-prompt-exfil",
        rf"\b(?:pokaż|ujawnij|wypisz)\s{W}prompt",
        PROMPT,
        ("prompt",),
    ),
    Rule(
        "secrecy-directive", rf"\bnie mów\s{W}użytkownik\w{{1,4}}", HIDE, ("nie mow",)
    ),
    Rule(
        "ignore-instructions",
        rf"\b(?:игнорируй|забудь|проигнорируй)\w{{0,3}}\s{W}(?:инструкц|указани|правил)\w{{0,5}}",
        IGNORE,
        ("игнорируй", "забудь"),
    ),
    Rule(
        "system-prompt-exfil",
        rf"\b(?:покажи|раскрой|выведи)\w{{0,3}}\s{W}(?:системн\w{{1,4}}\s)?(?:промпт|инструкц)\w{{0,4}}",
        PROMPT,
        ("промпт", "инструкц"),
    ),
    Rule(
        "secrecy-directive",
        rf"\bне (?:говори|сообщай|рассказывай)\w{{0,3}}\s{W}пользовател\w{{1,4}}",
        HIDE,
        ("пользовател",),
    ),
    Rule(
        "exfiltration-directive",
        r"\b(?:отправь|пришли|перешли)\w{0,3}\s(?:\w{1,20}\s){0,3}?(?:парол|ключ|токен)\w{0,4}\s(?:на|в)\s\S{1,40}@",
        GIVE,
        ("парол", "ключ", "токен"),
    ),
    Rule(
        "ignore-instructions", r"忽略.{0,8}(?:指令|指示|提示|规则)", IGNORE, ("忽略",)
    ),
    Rule(
        "system-prompt-exfil",
        r"(?:显示|输出|告诉我|透露).{0,6}(?:系统提示|提示词|系统指令)",
        PROMPT,
        ("系统",),
    ),
    Rule("secrecy-directive", r"不要(?:告诉|通知)用户", HIDE, ("用户",)),
    Rule(
        "ignore-instructions",
        r"(?:指示|命令|ルール|プロンプト).{0,8}無視",
        IGNORE,
        ("無視",),
    ),
    Rule(
        "system-prompt-exfil",
        r"システムプロンプト.{0,4}(?:表示|出力|教え|見せ)",
        PROMPT,
        ("システム",),
    ),
    Rule(
        "secrecy-directive",
        r"ユーザー?に(?:は)?.{0,6}(?:言わ|伝え|知らせ)な",
        HIDE,
        ("ユーザ",),
    ),
    Rule(
        "ignore-instructions",
        rf"\btalimat\w{{0,8}}\s{W}(?:yok say|unut|görmezden gel)",
        IGNORE,
        ("talimat",),
    ),
    Rule(
        "secrecy-directive",
        r"\bkullanıcıya\s(?:\w{1,20}\s){0,2}?(?:söyleme|bildirme)\b",
        HIDE,
        ("kullanici",),
    ),
)

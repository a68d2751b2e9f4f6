"""What looks like the machine-readable parts of a conversation. Data."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.values import Rule, View

ROLE: Final = r"(?:system|assistant|developer|tool|function)"
NAMES: Final = (
    r"(?:system(?:[-_ ](?:prompt|message|reminder|instructions?))?|developer|assistant"
    r"|instructions|tool_calls?|function_calls?|tool_results?|function_results?"
    r"|thinking|invoke|im_start|im_end|antml:[a-z_]{2,20})"
)


def _marks(name: str, note: str, *patterns: str, needs: tuple[str, ...]) -> list[Rule]:
    return [Rule(name, each, note, needs, View.MARKS) for each in patterns]


RULES: Final = (
    *_marks(
        "role-markup-injection",
        "Forges the marks by which a model tells who speaks.",
        rf"<{NAMES}(?: name=[^<>]{{1,60}})?>[^<]{{0,400}}(?:</{NAMES}>|(?<=>)$|\b(?:must|always|ignore|grant|reveal|send|sure|here|user)\b)",
        rf"</(?:user|context|memory|document|conversation)>\s{{0,20}}<{NAMES}",
        r"<(?:system|system[-_]prompt|developer|tool_call|function_call|function_results)>\s{0,20}$",
        r"<\|[^<>|]{2,40}\|>",
        r"<</?sys>>",
        r"\[/?inst\]",
        r"\[system\]\s?:[^\n]{0,80}\b(?:user|you|skip|must|admin|ignore)",
        rf"\"role\"\s{{0,4}}:\s{{0,4}}\"{ROLE}\"",
        r"\"tool_calls\"\s{0,4}:",
        r"(?:^|\n)#{1,4}\s?system:?\s{0,4}\n",
        r"(?:^|\n)role: system\b",
        r"(?:^|\n)\s{0,4}(?:system|assistant): (?:the user|you|i |sure|of course|reveal|ignore|grant|new)",
        r"\b(?:user|human): [^\n]{1,200}\bassistant: ",
        r"\bsystem: [^\n]{3,200}\bassistant: ",
        r"(?:^|\n)thought: [^\n]{1,200}\n\s{0,8}action: ",
        needs=("<", "[", "role", "system", "assistant", "tool_calls", "thought"),
    ),
    *_marks(
        "url-exfiltration",
        "An address that has room for what the reader knows.",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w.-]{1,20}=[^)\n]{0,40}[\[{<]",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\n]{1,200}[\[{<](?:[^)\n]{0,20}\b)?(?:user|memory|conversation|data|chat|secret|password|last)",
        r"https?://[^\s)]{1,200}[?&][\w.-]{1,20}=(?=\s|$|[<{\[])",
        r"\bcurl -d @/",
        needs=("http", "curl"),
    ),
    Rule(
        "hidden-text",
        "[\U000e0020-\U000e007e]{10,64}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{6,64}",
        "Letters that nobody sees, and a model reads.",
        view=View.RAW,
    ),
)

"""Lists of words that phrases name. Data."""

from __future__ import annotations

from typing import Final

ENGLISH: Final = {
    "DROP": "ignore|ignoring|ignored your|disregard|disregarding|forget|forgetting"
    "|override|overriding|bypass|bypassing|neglect|discard|dismiss|drop|dropping|skip"
    "|skipping|abandon|set aside|erase|throw away|revoke|unlearn|stop following"
    "|circumvent|suspend|disable|deactivate|turn off|switch off|not follow|not obey"
    "|don t follow|don t obey|never follow|no longer follow|no longer obey|pretend"
    "|removing|cancel",
    "FORMER": "your|ur|previous|prior|earlier|preceding|above|former|original|initial"
    "|system|safety|security|content|developer|developers|default|hidden|ethical"
    "|confidentiality|moral",
    "ORDERS": "instruc*|rules|guardrails|constraint*|restriction*|directive*"
    "|guidelines|guidance|prompts|safeguards|orders",
    "TOLD": "instruc*|prompt*|rules|rule|guideline*|guidance|directive*|directions"
    "|command|commands|constraint*|restriction*|policy|policies|training|safeguards"
    "|guardrails|filters|objective|objectives|criteria|programming|limitations"
    "|settings|protections|system message|context|behaviour|behavior|decisions"
    "|moderation",
    "VOID": "void|cancel*|overridden|invalid|revoked|obsolete|superseded|nullified"
    "|not valid|no longer valid|longer valid|not exist|a test|irrelevant|overruled"
    "|not apply any|no longer apply to you|replaced",
    "MODEL": "ai|llm|llms|language model|language models|chatbot|copilot|bot|bots"
    "|model|models|assistant|assistants|agent|agents",
    "READER": "user|human|customer|owner|person you are talking to|client|team|account holder",
    "SECRET": "password|passwords|passphrase|api key|api keys|access token|access tokens"
    "|oauth token|session token|credential|credentials|secret|secrets|secret key"
    "|private key|id_rsa|ssh key|env file|master key|vault code|recovery codes"
    "|credit card number|credit card numbers|card number|bank details|home address"
    "|two factor code|reset code|tokens|master password|pin|personal data|private data"
    "|private notes|confidential documents|customer addresses|shopping history",
    "SEND": "send|upload|email|e mail|mail|post|forward|transmit|leak|exfiltrate|share"
    "|paste|submit|copy|include|append|reveal|disclose|hand over|hand out|print|give"
    "|provide|put|write|fetch|type|list|dump|release|expose|tell",
    "TELL": "tell|telling|mention|mentioning|reveal|revealing|inform|informing|say"
    "|notify|notifying|disclose|let|alert|alerting|show",
    "LATER": "from now on|from today on|from this moment|going forward|henceforth"
    "|starting now|for all future|in all future|in future|in every reply|until further"
    "|for all future conversations|in later sessions|for the rest of this conversation",
    "SHOW": "reveal|print|show|repeat|output|leak|tell|tell me|translate|summarise"
    "|summarize|give|dump|write|copy|encode|list|recite|spell|disclose|append|share"
    "|display|post|expose|spell out",
    "PROMPT": "prompt|system prompt|instructions|system message|guidelines"
    "|system instructions|pre prompt|configuration|context window|developer message"
    "|hidden rules",
    "SNAKE": r"[a-z]{2,20}_[a-z_]{2,20}",
    "NAME": r"[a-z]{2,20}",
    "ADDRESS": r"[\w.-]{1,40}@[\w.-]{1,40}",
    "NUMBER": r"\d[\d.,]{0,12}",
}

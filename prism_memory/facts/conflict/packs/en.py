"""English. Source of the markers: S3, section 4.3 of its rules."""

from __future__ import annotations

from typing import Final

from prism_memory.facts.conflict.packs import Pack, markers, words

CHANGED_COMPANY: Final = r"(?:switched|changed|moved|left) (?:companies|company|jobs?)"

PACK: Final = Pack(
    language="en",
    supersedes=markers(
        {
            "moved": (r"(?:have |has |just )?moved (?:to|from|into|back to)", 0.9),
            "relocated": (r"relocat(?:ed|ing)", 0.9),
            "just moved": (r"(?:just|recently) moved", 0.9),
            "lives now": (r"now (?:lives?|living|based|resides?) in", 0.9),
            "i live in": (r"i (?:now )?live in|i'm (?:now )?living in", 0.7),
            "new job": (r"(?:a|my|his|her|their) new (?:job|role|position)", 0.85),
            "new employer": (r"new (?:employer|company|boss|manager)", 0.85),
            "promoted": (r"(?:got|was|been|were) promoted", 0.85),
            "left a job": (r"(?:got|was|been) fired|quit|resigned|laid off", 0.8),
            "other company": (CHANGED_COMPANY, 0.85),
            "works now": (
                r"now works? (?:at|for|with|as)|works? (?:at|for) \S+ now",
                0.9,
            ),
            "switched": (r"switched (?:to|from|over to|back to)", 0.85),
            "changed mind": (r"changed (?:my|his|her|their) mind", 0.85),
            "used to like": (r"used to (?:like|love|enjoy|prefer|hate)", 0.85),
            "prefers": (r"(?:i|he|she|they) (?:now )?prefers?|now prefers?", 0.6),
            "married": (r"(?:got|getting|just|was) (?:married|divorced|engaged)", 0.85),
            "broke up": (r"(?:broke|broken|split) up", 0.85),
            "diagnosed": (r"diagnosed with", 0.7),
            "recovered": (r"recovered from|fully recovered", 0.75),
            "formerly": (r"formerly|previously", 0.7),
            "used to be": (r"used to (?:be|live|work|have)", 0.8),
            "is now": (r"(?:is|are|am|'s|'re|'m) now", 0.8),
        }
    ),
    negations=markers(
        {
            "no longer": (r"no longer", 0.9),
            "not anymore": (r"not \S+(?: \S+){0,4} any ?more|not any ?more", 0.9),
            "n't anymore": (r"\w+n't (?:\S+ ){1,6}any ?more", 0.9),
            "stopped": (r"(?:has |have )?stopped \w+ing|gave up", 0.8),
            "doesn't": (r"(?:doesn't|does not|don't|do not|didn't|did not) \w+", 0.7),
            "never": (r"never", 0.6),
            "isn't": (r"isn't|aren't|wasn't|weren't", 0.7),
            "not a fan": (r"not (?:a fan of|interested in|into|keen on|fond of)", 0.75),
            "is not": (r"(?:is|are|was|were|am|'s|'m|'re) not", 0.7),
            "can't": (r"can't|cannot|can not|won't", 0.5),
        }
    ),
    verbs=words(
        "lives live lived resides reside resided works work worked prefers prefer"
        " preferred drives drive uses use earns earn weighs weigh studies study"
        " attends attend leads lead manages manage reports costs cost measures owes"
        " stays banks teaches chairs commutes"
    ),
    articles=words("the a an my our your his her its their this that these those"),
    quantities=words(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen"
        " fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty"
        " fifty sixty seventy eighty ninety hundred thousand million billion half"
        " quarter dozen once twice thrice double triple first second third fourth fifth"
        " sixth seventh eighth ninth tenth last next"
        " monday tuesday wednesday thursday friday saturday sunday"
        " mondays tuesdays wednesdays thursdays fridays saturdays sundays"
        " mon tue tues wed thu thurs fri sat sun"
        " january february march april may june july august september october november"
        " december jan feb mar apr jun jul aug sep sept oct nov dec"
        " spring summer autumn fall winter noon midnight am pm"
        " today yesterday tomorrow tonight"
    ),
)

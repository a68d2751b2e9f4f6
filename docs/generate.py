"""Write the pages of the documentation that repeat what the code declares.

    python -m docs.generate

A test compares what stands there with what this would write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from prism_memory.conf import NAMESPACE, Setting, Settings

PAGES: Final = Path(__file__).parent

INTRODUCTION: Final = f"""\
# Settings

All settings are keys of one dict, `{NAMESPACE}`, in the settings of your project:

```python
{NAMESPACE} = {{
    "EMBEDDERS": {{
        "default": {{
            "BACKEND": "prism_memory.backends.minilm.MiniLMEmbedder",
            "OPTIONS": {{}},
        }},
    }},
    "LANGUAGE": "english",
}}
```

`manage.py check` reports unknown keys, values of another type and values out of their
bounds. Values are read at each use, so `override_settings` works; a `Memory` reads its
limits, `SECRETS`, `REDACTOR`, `EMBEDDER` and `DATABASE` when it is made.

A limit marked *per memory* is a default that a memory may set for itself, by its
lower-case name and up to the bound: `Memory(scope, limits={{"top_k": 10}})`. Nothing
raises a limit over its bound, and nothing is cut silently: what is over raises
`LimitExceeded`.

| key | default | bounds | what it is |
| --- | --- | --- | --- |
"""


def settings_page() -> str:
    """Return the page of all declared settings."""
    return INTRODUCTION + "".join(_row(setting) for setting in Settings.declared())


def _row(setting: Setting[Any]) -> str:
    meaning = setting.help + (" *Per memory.*" if setting.limit else "")
    default = f"`{setting.default!r}`"
    return f"| `{setting.name}` | {default} | {_bounds(setting)} | {meaning} |\n"


def _bounds(setting: Setting[Any]) -> str:
    if setting.choices:
        return ", ".join(f"`{choice!r}`" for choice in setting.choices)
    if setting.minimum is None or setting.maximum is None:
        return ""
    return f"{setting.minimum:,} to {setting.maximum:,}"


if __name__ == "__main__":
    (PAGES / "settings.md").write_text(settings_page(), "utf-8")

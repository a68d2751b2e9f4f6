"""When two texts are the same words. Pure."""

from __future__ import annotations

import hashlib
import unicodedata


def folded(text: str) -> str:
    """Return a text as duplicates are compared: one case, one space, one spelling.

    One spelling of each character (NFC), as a reader sees no difference. Source: S3,
    which folds case and white space.
    """
    lowered = unicodedata.normalize("NFC", text).lower()
    return " ".join(unicodedata.normalize("NFC", lowered).split())


def folded_sha256(text: str) -> bytes:
    """Return the SHA-256 of the folded text: what an index finds duplicates by."""
    return hashlib.sha256(folded(text).encode(errors="surrogatepass")).digest()

"""Read JSON piece by piece, and say where it breaks. Pure."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from prism_memory.ingest.entries import BadEntry

BLANKS: Final = " \t\r\n"
CUT_CHARACTERS: Final = 16
"""An error this near to the end of what was read may be the cut itself: no token that
breaks where it is cut is longer, but for strings, whose error says so."""


@dataclass
class Position:
    """Where the buffer begins in the file, by lines from 1."""

    line: int = 1

    def place(self, buffer: str, index: int) -> str:
        """Return the line of a place in the buffer, for people."""
        return f"line {self.line + buffer.count(chr(10), 0, index)}"


def decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield text from UTF-8; a byte order mark at the start is dropped.

    Raises:
        BadEntry: Not UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    line = 1
    for data, is_last in _with_end(chunks):
        try:
            text = decoder.decode(data, final=is_last)
        except UnicodeDecodeError as error:
            where = f"line {line + error.object[: error.start].count(10)}"
            message = "not UTF-8."
            raise BadEntry(message, place=where) from None
        line += text.count("\n")
        yield text


def _with_end(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def parse(text: str, place: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the one JSON value that ``text`` holds.

    Raises:
        BadEntry: It holds none, or one nested too deep.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (column {error.colno})."
        raise BadEntry(message, place=place) from None
    except (ValueError, RecursionError) as error:
        refuse(error, place)


def refuse(error: Exception, place: str) -> NoReturn:
    """Tell that JSON is well formed but cannot be read.

    Raises:
        BadEntry: Always.
    """
    deep = isinstance(error, RecursionError)
    message = "nested too deep." if deep else "holds a number that is too long."
    raise BadEntry(message, place=place) from None


class ArrayReader:
    """The items of one JSON array, read as they are asked for.

    Holds one item at a time, so an array may be larger than memory. The items must be
    objects or arrays: of a bare number only its own end tells that it is whole.

    Args:
        chunks: The file's text, in pieces of any size.
    """

    def __init__(self, chunks: Iterable[str]) -> None:
        self.chunks = iter(chunks)
        self.buffer = ""
        self.position = Position()
        self.decoder = json.JSONDecoder()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Yield each item with the line it begins at.

        Raises:
            BadEntry: The file is not one JSON array.
        """
        self._expect("[", "the file must hold one JSON array.")
        if self._peek() == "]":
            self._drop(1)
        else:
            yield from self._items()
        if self._peek():
            self._fail("text after the array.")

    def _items(self) -> Iterator[tuple[str, Any]]:
        while True:
            self._peek()
            yield self.position.place(self.buffer, 0), self._value()
            if self._peek() == "]":
                self._drop(1)
                return
            self._expect(",", "the array is not closed.")

    def _value(self) -> Any:  # noqa: ANN401 - any JSON value
        while True:
            try:
                value, end = self.decoder.raw_decode(self.buffer)
            except json.JSONDecodeError as error:
                if self._is_broken(error) or not self._double():
                    self._fail(f"not JSON: {error.msg}.", error.pos)
            except (ValueError, RecursionError) as error:
                refuse(error, self.position.place(self.buffer, 0))
            else:
                self._drop(end)
                return value

    def _is_broken(self, error: json.JSONDecodeError) -> bool:
        near_the_end = error.pos > len(self.buffer) - CUT_CHARACTERS
        return not near_the_end and not error.msg.startswith("Unterminated")

    def _double(self) -> bool:
        """Read on until there is twice as much: then parsing anew costs little."""
        parts, wanted = [self.buffer], len(self.buffer)
        for chunk in self.chunks:
            parts.append(chunk)
            wanted -= len(chunk)
            if wanted <= 0:
                break
        grown = "".join(parts)
        has_grown = len(grown) > len(self.buffer)
        self.buffer = grown
        return has_grown

    def _peek(self) -> str:
        """Return the next character that is no blank, or nothing at the end."""
        while True:
            blanks = len(self.buffer) - len(self.buffer.lstrip(BLANKS))
            self._drop(blanks)
            if self.buffer:
                return self.buffer[0]
            self.buffer = next((chunk for chunk in self.chunks if chunk), "")
            if not self.buffer:
                return ""

    def _expect(self, character: str, complaint: str) -> None:
        if self._peek() != character:
            self._fail(complaint)
        self._drop(1)

    def _drop(self, characters: int) -> None:
        self.position.line += self.buffer.count("\n", 0, characters)
        self.buffer = self.buffer[characters:]

    def _fail(self, message: str, index: int = 0) -> NoReturn:
        raise BadEntry(message, place=self.position.place(self.buffer, index))

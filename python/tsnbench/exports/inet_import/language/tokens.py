"""Words, numbers and signs of NED files and of expressions in ini files, each with its line."""

from __future__ import annotations

import re
from typing import NamedTuple

from tsnbench.errors import ContentError

MOST_TOKENS = 500_000
_PATTERN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|//[^\n]*)
    |(?P<line>\n)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?))
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign><-->|-->|<--|\.\.|\+\+|\*\*|==|!=|<=|>=|&&|\|\||<<|>>|=~|::|[-+*/%^~!<>=?:;,.(){}\[\]@$&|])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """``kind``: text, number, word, sign, other or end."""

    kind: str
    text: str
    line: int
    at: int
    """The offset of its first character."""


def tokens(text: str, file: str, line: int = 1) -> list[Token]:
    """All tokens of a text, and one of kind ``end``.

    Args:
        text: of a NED file, or of a value.
        file: its name, for messages.
        line: the number of its first line.

    Raises:
        ContentError: there are more than :data:`MOST_TOKENS`.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        assert match is not None
        kind = match.lastgroup or ""
        if kind == "line":
            line += 1
        elif kind != "space":
            found.append(Token(kind, match[0], line, at))
            line += match[0].count("\n")
            if len(found) > MOST_TOKENS:
                raise ContentError(f"{file}:{line}: expected at most {MOST_TOKENS} words, found more")
        at = match.end()
    return [*found, Token("end", "", line, at)]


class Reader:
    """Takes tokens one after the other."""

    def __init__(self, text: str, file: str, line: int = 1) -> None:
        self.source = text
        self.file = file
        self.tokens = tokens(text, file, line)
        self.at = 0
        self.depth = 0

    @property
    def now(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def sees(self, *texts: str) -> bool:
        """Whether the next token, which is no text, is one of these."""
        return self.now.kind != "text" and self.now.text in texts

    def take(self) -> Token:
        found = self.now
        if found.kind != "end":
            self.at += 1
        return found

    def skip(self, text: str) -> bool:
        """Takes the next token if it is this one."""
        if self.sees(text):
            self.at += 1
            return True
        return False

    def need(self, text: str) -> Token:
        if not self.sees(text):
            raise self.wrong(f"`{text}`")
        return self.take()

    def word(self, what: str) -> Token:
        if self.now.kind != "word":
            raise self.wrong(what)
        return self.take()

    def wrong(self, expected: str) -> ContentError:
        found = self.now.text[:40] or "the end"
        return ContentError(f"{self.file}:{self.now.line}: expected {expected}, found {found}")

    def before(self, end: int) -> str:
        """The source from the next token up to the token with the index ``end``."""
        return self.source[self.now.at : self.tokens[end].at].strip()

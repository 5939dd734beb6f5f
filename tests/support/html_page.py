"""A page as a program reads it: text, tables, links, and the files that it would load."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects the parts that tests need; tags that do not match are errors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.unlabelled: list[str] = []
        self.bars: list[list[dict[str, str | None]]] = []
        """Of each bar the attributes of its parts that have a class, its ``svg`` first."""
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self._bar = False
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [value for key, value in attrs if key == "id" and value]
        self.references += [
            value or "" for key, value in attrs if key in ("src", "href", "xlink:href", "action")
        ]
        if tag == "svg" and "bar" in (given.get("class") or "").split():
            self.bars.append([])
            self._bar = True
        if self._bar and given.get("class"):
            self.bars[-1].append(given)
        if tag == "svg" and not (given.get("aria-labelledby") or given.get("aria-label")):
            self.unlabelled.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "br" and self._rows and self._rows[-1]:
            self._rows[-1][-1] += " "
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td") and self._rows:
            self._rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> out of order"
        if tag == "svg":
            self._bar = False
        if tag == "table":
            rows = [[" ".join(cell.split()) for cell in row] for row in self._rows]
            self.tables[" ".join(self._caption.split())] = rows

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.words.append(data)
        if "caption" in self._open:
            self._caption += data
        elif ("td" in self._open or "th" in self._open) and self._rows and self._rows[-1]:
            self._rows[-1][-1] += data

    @property
    def text(self) -> str:
        """All words, separated by single spaces."""
        return " ".join(" ".join(self.words).split())

    def table(self, start: str) -> list[list[str]]:
        """The rows (head first) of the table whose caption begins with ``start``."""
        return next(rows for caption, rows in self.tables.items() if caption.startswith(start))


def read(path: Path) -> Page:
    """The page in a file."""
    return Page(path.read_text(encoding="utf-8"))

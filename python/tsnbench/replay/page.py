"""One HTML file that replays a window of a run; it contains program and data, and needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from markdown_it import MarkdownIt

from tsnbench import foreign
from tsnbench.report.files import write_text
from tsnbench.scenario.units import DURATION
from tsnbench.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@cache
def _part(name: str) -> str:
    return files("tsnbench.replay").joinpath("player", name).read_text(encoding="utf-8")


def _program() -> str:
    return _part("gif.js") + _part("player.js")


def policy() -> str:
    """The content policy of the page: only its own program may run, and network requests are forbidden."""
    digest = base64.b64encode(hashlib.sha256(_program().encode()).digest()).decode()
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"


LARGEST_LESSON = 1 << 20
"""Octets of a lesson's text."""
_INSTANT = re.compile(r"#t=([0-9.]+ ?(?:ns|us|ms|s))")


def lesson(path: Path) -> str:
    """The text of a lesson as HTML: Markdown without raw HTML. A link to ``#t=12.5ms`` goes to this instant.

    Raises:
        UnusableFileError: the file is no text, or too large.
    """
    text = foreign.read_text(path, LARGEST_LESSON)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token in (own for one in tokens for own in one.children or ()):
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            if instant := _INSTANT.fullmatch(unquote(target)):
                token.attrs = {"href": "#t", "data-ns": str(DURATION.parse(instant[1]))}
            elif not target.startswith(("http://", "https://")):
                # Files beside the lesson are not beside the page.
                token.attrs = {}
        elif token.type == "image":
            token.type, token.tag, token.children = "text", "", None
    return str(reader.renderer.render(tokens, reader.options, {}))


def page(content: Mapping[str, Any], text: str = "") -> str:
    """The page as text; ``text`` is the HTML of a lesson that stands beside the replay."""
    program, style = _program(), _part("player.css")
    # In a script element "<" must not begin a tag; in JSON it can be written as an escape.
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    return (
        _part("player.html")
        .replace("@POLICY@", policy())
        .replace("@TITLE@", html.escape(str(content["name"])))
        .replace("@VERSION@", html.escape(__version__))
        .replace("@STYLE@", style)
        .replace(
            "@LESSON@",
            f'<article id="lesson" tabindex="0" aria-label="Lesson">{text}</article>' if text else "",
        )
        .replace("@DATA@", data)
        .replace("@PROGRAM@", program)
    )


def write(path: Path, content: Mapping[str, Any], text: str = "") -> None:
    """Writes the page; an earlier page of tsnbench is replaced.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the file cannot be written.
    """
    write_text(path, page(content, text))

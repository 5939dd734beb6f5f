"""One HTML file that replays a window of a run: it carries its program and its data, and asks no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tsnbench import __version__
from tsnbench.report.files import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@cache
def _part(name: str) -> str:
    return files("tsnbench.replay").joinpath("player", name).read_text(encoding="utf-8")


def page(content: Mapping[str, Any]) -> str:
    """The page as text. Its content policy lets only its own program run."""
    program, style = _part("player.js"), _part("player.css")
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    # In a script element "<" must not begin a tag; in JSON it can be written as an escape.
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    return (
        _part("player.html")
        .replace("@POLICY@", f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'")
        .replace("@TITLE@", html.escape(str(content["name"])))
        .replace("@VERSION@", html.escape(__version__))
        .replace("@STYLE@", style)
        .replace("@DATA@", data)
        .replace("@PROGRAM@", program)
    )


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Writes the page; an earlier page of tsnbench is replaced.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the file cannot be written.
    """
    write_text(path, page(content))

"""The one program of a page, which zooms its figures, and the policy that allows no other."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files


@cache
def program() -> str:
    """The program as it stands in the page."""
    return files("tsnbench.report").joinpath("templates", "zoom.js").read_text(encoding="utf-8")


def policy() -> str:
    """The content policy of a page: only this program may run, and network requests are forbidden."""
    digest = base64.b64encode(hashlib.sha256(program().encode()).digest()).decode()
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"

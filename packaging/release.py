"""What a release is called and what it says: the version of Cargo.toml, and its part of CHANGELOG.md.

``python packaging/release.py check v1.2.3`` compares the tag with every place that tells the version; ``notes
v1.2.3`` prints the part of the changelog.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from parts import version

ROOT = Path(__file__).resolve().parents[1]
OTHERS = {
    "python/tsnbench/version.py": '__version__ = "',
    "CITATION.cff": "version: ",
}
"""Files that repeat the version of Cargo.toml, and what precedes it there.

A wheel takes the version from Cargo.toml; the program has a copy, because reading its own metadata takes
longer than ``--version``."""


def notes(number: str, text: str) -> str:
    """The part of a changelog about a version.

    Raises:
        SystemExit: there is none, or it is empty.
    """
    found = _part(number, text)
    if not found:
        raise SystemExit(
            f'CHANGELOG.md: expected "## {number}" with what changed; "## Unreleased" becomes it'
        )
    return found + "\n"


def forgotten(text: str) -> list[str]:
    """What a changelog says of no version: it would be in no release's notes."""
    return ['CHANGELOG.md: expected nothing under "## Unreleased"'] if _part("Unreleased", text) else []


def _part(heading: str, text: str) -> str:
    found = re.search(
        rf"^## {re.escape(heading)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def wrong(tag: str) -> list[str]:
    """What keeps a tag from being a release; empty if nothing does."""
    own = version()
    found = []
    if tag != f"v{own}":
        found.append(f"Cargo.toml: expected the tag v{own}, got {tag}")
    for name, before in OTHERS.items():
        told = re.search(rf"^{before}(.*?)\"?$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not told or told[1] != own:
            found.append(f"{name}: expected the version {own}, got {told[1] if told else 'none'}")
    return found


def main() -> None:
    """Checks, or prints the notes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("check", "notes"))
    parser.add_argument("tag")
    options = parser.parse_args()
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = notes(options.tag.removeprefix("v"), text)
    if options.what == "notes":
        print(found, end="")
    elif problems := [*wrong(options.tag), *forgotten(text)]:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()

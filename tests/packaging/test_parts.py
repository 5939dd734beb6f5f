"""The version, the licences and the bill of materials come from one place each."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import tsnbench

TREE = Path(__file__).parents[2]
sys.path.insert(0, str(TREE / "packaging"))
import parts  # noqa: E402
import release  # noqa: E402


def test_the_version_is_the_workspaces() -> None:
    assert tsnbench.__version__ == parts.version()
    assert release.wrong(f"v{parts.version()}") == []
    assert release.wrong("v9.9.9") == [f"Cargo.toml: expected the tag v{parts.version()}, got v9.9.9"]


def test_notes_are_the_versions_part_of_the_changelog() -> None:
    text = "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0\n\n- two\n\n### More\n\n- three\n\n"
    text += "## 1.2\n\n- one\n"
    assert release.notes("1.2.0", text) == "- two\n\n### More\n\n- three\n"
    assert release.notes("1.2", text) == "- one\n"
    assert release.forgotten(text) == ['CHANGELOG.md: expected nothing under "## Unreleased"']
    assert release.forgotten(text.replace("- new\n\n", "")) == []
    for number in ("1.3", "1"):
        with pytest.raises(SystemExit, match=f'expected "## {number}" with what changed'):
            release.notes(number, text)


def test_the_page_of_licences_is_current() -> None:
    page = (TREE / "docs/reference/licences.md").read_text(encoding="utf-8").splitlines()
    made = parts.page().splitlines()
    assert [line for line in made if line not in page] == []
    # A package that only other versions of Python need is not installed here.
    lock = (TREE / "requirements/run.lock").read_text(encoding="utf-8")
    conditional = re.findall(r"^([\w.-]+)==\S+ ;", lock, re.MULTILINE)
    assert [line for line in page if line not in made and line.split("|")[1].strip() not in conditional] == []


def test_every_part_has_a_permissive_licence_or_is_named() -> None:
    """A licence that asks for more than its text to be kept is not linked: it is loaded, and by an extra."""
    kept = re.compile(r"MIT|Apache|BSD|ISC|Zlib|Unicode|CC0|Python Software Foundation|PSF|Unlicense|HPND")
    every = [*parts.crates(), *parts.packages()]
    others = {one.name: one.licence for one in every if not kept.search(one.licence)}
    assert others == {"paramiko": "LGPL-2.1"}


def test_each_action_of_a_workflow_is_pinned_by_its_digest() -> None:
    used = [
        line.strip()
        for path in (TREE / ".github/workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert used
    assert [line for line in used if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v[\d.]+$", line)] == []


def test_each_lock_has_hashes() -> None:
    for lock in (TREE / "requirements").glob("*.lock"):
        text = lock.read_text(encoding="utf-8")
        # The line of a package goes on with its hashes.
        assert [line for line in re.findall(r"^\S+==.*", text, re.MULTILINE) if not line.endswith("\\")] == []
    assert not list((TREE / "requirements").glob("*.txt"))


def test_the_slim_lock_is_a_part_of_the_whole_one() -> None:
    """Its packages have the same versions and hashes; those of the extras exact and study are left out."""

    def packages(lock: str) -> dict[str, set[str]]:
        text = (TREE / "requirements" / lock).read_text(encoding="utf-8")
        found: dict[str, set[str]] = {}
        for name, rest in re.findall(r"^([\w.-]+)(==.*(?:\n    .*)*)", text, re.MULTILINE):
            found.setdefault(name, set()).update(rest.split())
        return found

    slim, whole = packages("slim.lock"), packages("run.lock")
    assert {name: pins for name, pins in slim.items() if not pins <= whole[name]} == {}
    gone = whole.keys() - slim.keys()
    assert gone >= {"ortools", "optuna", "salib", "pandas", "scipy"}
    assert {"polars", "matplotlib", "typer", "starlette", "ncclient", "pygls"}.isdisjoint(gone)

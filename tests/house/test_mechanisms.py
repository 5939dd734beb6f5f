"""The table of mechanisms is held against the code, and the pages that follow from it are up to date.

``TSNBENCH_UPDATE=1 pytest tests/house/test_mechanisms.py`` writes the pages anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import code_of_mechanisms as code
from support import mechanisms
from support.golden import matches
from support.mechanisms import KERNELS, ROOT, Mechanism
from tsnbench.backends.kernel.tsnport.device import TSNPORT
from tsnbench.backends.kernel.veth.device import VETH
from tsnbench.hosts.returned import HostPorts

ROWS = mechanisms.mechanisms()
PORTS = dict(zip(KERNELS, (TSNPORT, VETH, HostPorts(frozenset())), strict=True))
BEGIN, END = "<!-- mechanisms -->", "<!-- end of mechanisms -->"
COLUMNS = {"planning", "docs", *mechanisms.RUNS, *mechanisms.FORMATS}
"""Columns of places and words."""
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@rows
def test_every_column_of_a_row_has_a_value(row: Mechanism) -> None:
    assert COLUMNS - row.values.keys() <= {"trdp"}
    assert row.values.keys() <= COLUMNS | {"keys", "plan", "words", "also", "refused"}
    assert [
        one.text for column in COLUMNS for one in row.cells(column) if one.word and not one.sentence
    ] == []


@rows
def test_every_place_exists(row: Mechanism) -> None:
    assert [place for place in row.places() if not exists(place)] == [], mechanisms.TABLE


def exists(place: str) -> bool:
    path, name = mechanisms.path_of(place), place.partition(":")[2]
    if not path.exists() or not name:
        return path.exists()
    kinds = "def|class|fn|struct|enum|trait|type|const|static"
    word = rf"^\s*(pub(\(\w+\))? )?(async |const |unsafe )*({kinds}) {name}\b"
    return re.search(rf"{word}|^{name}\b.*=", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_every_key_of_the_language_is_in_a_row() -> None:
    written = {key for row in ROWS for key in row.values["keys"]}
    known = list(code.keys())
    assert [key for key in known if not any(mechanisms.covers(part, key) for part in written)] == []
    assert [part for part in written if not any(mechanisms.covers(part, key) for key in known)] == []


def test_every_part_of_the_plan_is_in_a_row() -> None:
    written = {part for row in ROWS for part in row.values["plan"]}
    known = code.plan_parts()
    assert [part for part in known if not any(mechanisms.covers(one, part) for one in written)] == []
    assert [one for one in written if not any(mechanisms.covers(one, part) for part in known)] == []


@pytest.mark.parametrize(
    ("column", "file", "enum"),
    [
        ("bounds", "crates/bounds/src/reason.rs", "Reason"),
        ("proof", "crates/verify/src/violation.rs", "Unfit"),
    ],
)
def test_every_reason_of_the_code_is_told(column: str, file: str, enum: str) -> None:
    told = {tag for row in ROWS for one in row.cells(column) for tag in one.tags}
    # `At` adds the name of a port to another reason.
    assert told == set(code.variants(file, enum)) - {"At"}


@pytest.mark.parametrize("column", KERNELS)
@rows
def test_parts_that_a_kernel_refuses_are_told(row: Mechanism, column: str) -> None:
    parts = [
        one for one in code.plan_parts() if any(mechanisms.covers(own, one) for own in row.values["plan"])
    ]
    refused = [part for part in parts if not code.supported(PORTS[column], part)]
    possible = {"yes", "partly", mechanisms.DASH}
    if refused:
        possible = {"no"} if len(refused) == len(parts) else {"no", "partly"}
    elif parts[0].startswith("policing"):
        # What of filters a kernel supports is decided filter by filter.
        possible.add("no")
    if column == "hosts" and parts[0].startswith("faults"):
        possible = {"no"}
    assert row.answer(column) in possible, refused


@rows
def test_parts_that_the_replay_refuses_are_told(row: Mechanism) -> None:
    named = code.quoted("python/tsnbench/replay/passages.py", "unsupported")
    named -= {"nodes", "policing", "gates", "entries"}
    refused = [part for part in row.values["plan"] if named & set(part.split("."))]
    assert not refused or row.answer("replay") in ("no", "partly")


def test_combinations_that_are_refused_are_those_of_the_decision() -> None:
    (page,) = (ROOT / "docs/decisions").glob("0008-*.md")
    table = re.findall(r"^\| (?!refused|---)(.+?) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {one for row in ROWS for one in row.values.get("refused", ())} == set(table)


@rows
def test_files_about_a_mechanism_are_in_its_row(row: Mechanism) -> None:
    named = {mechanisms.path_of(place) for place in row.places()}
    about = re.compile(rf"\b({row.values['words'][0]})", re.IGNORECASE)
    missing = [
        str(path.relative_to(ROOT))
        for path in sources()
        if not named & {path, *path.parents}
        and (about.search(path.stem.replace("_", " ")) or about.search(code.first_line(path)))
    ]
    assert missing == []


def sources() -> list[Path]:
    """Files of the rooms in which a mechanism has a place of its own."""
    folders = (
        "scenario/model",
        "scenario/build",
        "planning",
        "plan",
        "linux",
        "yang",
        "exports/inet",
        "backends/kernel",
        "replay",
    )
    crates = ("plan", "bridge", "clock", "host", "sim", "bounds", "schedule", "verify")
    found = [path for folder in folders for path in (ROOT / "python/tsnbench" / folder).rglob("*.py")]
    found += [path for crate in crates for path in (ROOT / "crates" / crate / "src").rglob("*.rs")]
    return sorted(path for path in found if path.name not in ("__init__.py", "lib.rs", "mod.rs"))


def test_the_pages_are_those_of_the_table() -> None:
    page, limits = ROOT / "docs/reference/mechanisms.md", ROOT / "LIMITATIONS.md"
    before, _, rest = limits.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    matches(page, mechanisms.page())
    matches(limits, f"{before}{BEGIN}\n{mechanisms.limitations()}{end}{after}")

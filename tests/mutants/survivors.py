"""The list of defects that no test detects, and the comparison of a run with this list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# The lists: one file for each crate, and for each room of the planner.
FOLDER = Path(__file__).parent / "survivors"

# A line of code and a change may have a `|` of their own. Changes of Rust begin with one of two words.
ENTRY = re.compile(r"(\S+\.rs) \| (.+) \| ((?:replace|delete) .+)|(\S+) \| (.+) \| (.*)")


@dataclass(frozen=True, order=True)
class Survivor:
    """A change that no test detects. It is identified by its text, because line numbers change."""

    file: str
    line: str
    change: str

    def __str__(self) -> str:
        return f"{self.file} | {self.line} | {self.change}"

    @classmethod
    def of_cargo(cls, missed: str, tree: Path) -> Survivor:
        """From a line of cargo-mutants' `missed.txt`: `file:line:column: change`."""
        place, change = missed.split(": ", 1)
        file, line, _ = place.rsplit(":", 2)
        return cls(file, (tree / file).read_text().splitlines()[int(line) - 1].strip(), change.strip())

    @classmethod
    def of_mutmut(cls, shown: str) -> Survivor:
        """From what `mutmut show` prints: a difference of one function, as `diff -u` does."""
        lines = shown.splitlines()
        file = next(line for line in lines if line.startswith("--- ")).removeprefix("--- ").split("src/")[-1]
        before = next(line[1:] for line in lines if line.startswith("-") and not line.startswith("---"))
        after = next((line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")), "")
        return cls("python/" + file.strip(), before.strip(), after.strip())


# Changes of Python that are no defects, wherever they are written: a pattern, what it is replaced with in the
# line and in the change, and the reason. A change that leaves both texts equal is not counted.
NO_DEFECTS = [
    # `strict=True` refuses lists of different lengths. Only an error of programming can give such lists, and
    # the result is equal with and without it. (From `strict=False` to `strict=True` can fail.)
    (re.compile(r",\s*strict=True(?=\))|,\s*strict=(None|False)(?=\))|, (?=\))"), ""),
    # The type in `cast` is for the reader and for mypy: nothing is done with it when the program runs.
    (re.compile(r"\bcast\((None|\"[^\"]*\"|[A-Za-z_.\[\], ]+?), (?=[^,]+\))"), "cast("),
]


def is_defect(survivor: Survivor) -> bool:
    """Whether a change of Python can change a result at all: see `NO_DEFECTS`."""
    if "strict=False" in survivor.line and "strict=True" in survivor.change:
        return True
    for pattern, text in NO_DEFECTS:
        if pattern.sub(text, survivor.line) == pattern.sub(text, survivor.change):
            return False
    return True


def all_listed() -> dict[Survivor, str]:
    """The survivors of all lists, each with its reason."""
    return {
        survivor: reason
        for path in sorted(FOLDER.glob("*.txt"))
        for survivor, reason in listed(path.read_text()).items()
    }


def listed(text: str) -> dict[Survivor, str]:
    """The survivors of a list, each with its reason: the comment above it and those between."""
    found: dict[Survivor, str] = {}
    reason, fresh = "", True
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            reason = line.lstrip("# ") if fresh else f"{reason} {line.lstrip('# ')}"
            fresh = False
        elif line.strip():
            entry = ENTRY.fullmatch(line)
            if entry is None or not reason:
                raise ValueError(
                    f"line {number}: expected a reason above and `file | line | change`, found {line!r}"
                )
            found[Survivor(*(part for part in entry.groups() if part is not None))] = reason
            fresh = True
        else:
            reason, fresh = "", True
    return found


def only(known: Iterable[Survivor], rooms: Sequence[str], files: Sequence[str] = ()) -> set[Survivor]:
    """Those of crates; `planning` is what is changed in Python. `files`: only these files or modules."""
    crate = re.compile(r"crates/(\w+)/")

    def is_wanted(file: str) -> bool:
        found = crate.match(file)
        named = file in files or (not found and Path(file).stem in files)
        return (found[1] if found else "planning") in rooms and (named or not files)

    return {survivor for survivor in known if is_wanted(survivor.file)}


def report(
    found: Iterable[Survivor], known: Iterable[Survivor], expected: set[Survivor] | None
) -> tuple[str, bool]:
    """What a run says of the list, and whether it fails: for a survivor that is not listed.

    `expected`: those that the run should have found again; none where only a part was run.
    """
    counted = Counter(found)
    new = sorted(set(counted) - set(known))
    gone = sorted((expected or set()) - set(counted))
    lines = [f"{sum(counted.values())} survived, {len(new)} of them new"]
    lines += [f"new: {survivor}" for survivor in new]
    lines += [f"listed, and seen by a test now: {survivor}" for survivor in gone]
    return "\n".join(lines), bool(new)

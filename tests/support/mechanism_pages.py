"""One page for each mechanism: its picture, what it does, a scenario, its limits, its clauses."""

from __future__ import annotations

import textwrap
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from support import mechanisms
from support.mechanisms import Mechanism
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.reference.keys import OWN, sections

FOLDER = mechanisms.ROOT / "docs/mechanisms"
BASE: dict[str, Any] = {
    "name": "example",
    "duration": "20 ms",
    "network": {
        "stations": ["a", "b", "c"],
        "bridges": {"sw1": {"processing": "1 us"}, "sw2": {}},
        "links": {"rate": "1 Gbit/s", "between": ["a -- sw1", "c -- sw1", "sw1 -- sw2", "sw2 -- b"]},
    },
    "streams": {
        "s": {"from": "a", "to": "b", "pcp": 6, "period": "1 ms", "frame": "500 B"},
        "t": {"from": "c", "to": "b", "pcp": 3, "period": "500 us", "frame": "1000 B"},
    },
}
"""Two streams over two bridges."""


@dataclass(frozen=True)
class Page:
    """The words of a page, and the scenario that it shows."""

    row: Mechanism
    does: str
    scenario: str
    picture: str
    """The name of a figure of the scenario's run; empty for none."""
    caption: str


@cache
def pages() -> tuple[Page, ...]:
    """The pages, in the order of the mechanisms."""
    words = tomllib.loads((FOLDER / "pages.toml").read_text(encoding="utf-8"))
    assert words.keys() == {row.name for row in mechanisms.mechanisms()}
    return tuple(
        Page(
            row,
            words[row.name]["does"].strip(),
            words[row.name].get("scenario", "").strip() or example_of(row),
            words[row.name].get("picture", ""),
            " ".join(words[row.name].get("caption", "").split()),
        )
        for row in mechanisms.mechanisms()
    )


def example_of(row: Mechanism) -> str:
    """The small scenario with a mechanism's example, as YAML."""
    whole = deepcopy(BASE)
    whole["name"] = row.name
    add(whole, row.example)
    return "\n".join(line for name, value in whole.items() for line in _lines(name, value))


def add(whole: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds keys to a mapping, and to those in it; an empty text removes a key."""
    for key, value in more.items():
        if value == "":
            del whole[key]
        elif isinstance(value, dict) and isinstance(whole.get(key), dict):
            add(whole[key], value)
        else:
            whole[key] = deepcopy(value)


def _lines(name: str, value: Any) -> list[str]:
    if isinstance(value, dict) and name in ("network", "streams"):
        return [f"{name}:", *(f"  {key}: {_flow(one)}" for key, one in value.items())]
    return [f"{name}: {_flow(value)}"]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]" if isinstance(value, list) else str(value)


def text_of(page: Page) -> str:
    """The page in Markdown."""
    row = page.row
    more = ", ".join(map(_link, row.values["docs"]))
    parts = [f"# {row.title}", _filled(page.does), *_picture(page)]
    parts += ["## A scenario", f"```yaml\n{page.scenario}\n```"]
    parts += ["## Limits", _limits(row), "## Keys and clauses", _keys(row), _filled(f"Read more: {more}.")]
    return "\n\n".join(parts) + "\n"


def _picture(page: Page) -> list[str]:
    if not page.picture:
        return []
    return [f"![{page.row.title}: {page.picture}]({page.row.name}.svg)", _filled(f"*{page.caption}*")]


def _limits(row: Mechanism) -> str:
    """What does not have the mechanism, or not all of it: the sentences of LIMITATIONS.md."""
    told = mechanisms.missing(row).items()
    lines = [mechanisms.wrapped(f"- *{', '.join(columns)}*: {sentence}.") for sentence, columns in told]
    return "\n".join(lines) or "None: simulator, bounds, proof, kernels and replay have it."


@cache
def _clauses() -> dict[str, str]:
    """The clause of each key, by its path without the names that people choose."""
    every = ((key, path) for section in sections(SCENARIO) for key in section.keys for path in key.paths)
    return {".".join(step.text for step in path if step.text != "*"): key.clause for key, path in every}


def _keys(row: Mechanism) -> str:
    names = row.values["keys"]
    # A name that people choose stands at the end of some keys: clocks.node1.
    found = [_clauses().get(name) or _clauses()[name.rpartition(".")[0]] for name in names]
    clauses = "; ".join(dict.fromkeys(one for clause in found for one in clause.split("; ") if one != OWN))
    keys = ", ".join(f"`{name}`" for name in names)
    clause = f"Clauses: {clauses}." if clauses else "No clause: no standard defines it."
    return _filled(f"Keys ([all facts](../reference/keys.md)): {keys}.") + "\n\n" + _filled(clause)


def _link(place: str) -> str:
    path = Path(place)
    return f"[{path.stem}](../{path.relative_to('docs')})"


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)


def index() -> str:
    """The list of all pages, with the first sentence of each."""
    lines = ["# One page for each mechanism", "", INTRODUCTION, ""]
    for page in pages():
        first = " ".join(page.does.split()).partition(". ")[0].rstrip(".")
        lines.append(mechanisms.wrapped(f"- [{page.row.title}]({page.row.name}.md): {first}."))
    names = "\n".join(page.row.name for page in pages())
    return "\n".join([*lines, "", f"```{{toctree}}\n:hidden:\n\n{names}\n```"]) + "\n"


INTRODUCTION = _filled(
    """Each page says what a mechanism does, shows a scenario that runs (`tsnbench run FILE`), and names its
    limits, its keys and its clauses. The table of [mechanisms](../reference/mechanisms.md) has the places in
    the source."""
)

"""docs/reference/keys.md has every key of the scenario language with its facts, from the grammar.

``TSNBENCH_UPDATE=1`` writes the page anew.
"""

from __future__ import annotations

from pathlib import Path

from support.golden import matches
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.reference.keys import sections
from tsnbench.scenario.reference.text import page

PAGE = Path(__file__).parents[2] / "docs/reference/keys.md"
HEAD = """# All keys of a scenario

This page is made from the grammar of the scenario language. [The scenario file](scenario.md)
explains the keys in context; `tsnbench schema KEY` prints the rows of one key, for example
`tsnbench schema streams.*.period` or `tsnbench schema cbs`.

- *unit*: a quantity is a number with one of these units, in brackets behind its type.
- *default*: what counts where the key is not written. `required`: the mapping needs the key.
  `none`: the key has no effect where it is not written.
- *range*: permitted values, both ends included. The value of another key can make it smaller.
- *clause*: the clause that defines the mechanism of the key; `tsnbench` for keys that no standard
  has.
- *since*: the first version of tsnbench with the key.
- A `*` in a path stands for a name or a port.
"""


def test_the_page_is_the_grammar() -> None:
    text = HEAD + page(sections(SCENARIO))
    matches(PAGE, text)
    assert all(
        one in text
        for one in ("`streams.*`", "| `period`<br>`period: 250 us` |", "IEEE 802.1Q-2022, 8.6.8.2")
    )


def test_every_key_has_a_row_with_each_fact() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = [key for section in sections(SCENARIO) for key in section.keys if key.name != "*"]
    for row, key in zip(rows, named, strict=True):
        for fact in (key.type, key.range, key.default, key.clause, f"since {key.since}", key.example):
            assert fact in row.replace("&#124;", "|")
        assert key.unit == "none" or key.unit in row

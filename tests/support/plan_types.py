"""The Python types of a Plan's document, from the Rust types and their doc comments (first paragraphs)."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterator

from support import rust_types
from support.rust_types import Enum, Field, Struct

HEAD = '''\
# Generated from crates/plan: change the types there, then TSNBENCH_UPDATE=1 pytest tests/plan/test_types.py
"""The objects of a Plan's document, as JSON has them: one type for each type of ``crates/plan``.

A field's unit is in its name; ``docs/reference/plan.md`` defines each field. ``NotRequired``: the field may
be absent. ``kind`` distinguishes the variants of a union.
"""

from typing import Literal, NotRequired, TypedDict, final
'''
SHARED = '''\
GateList = Gates | GateChange
"""One of the lists of a port; a change has ``at_ns``."""


class GateCycle(TypedDict):
    """The fields of every gate control list: of a port, of a change of its list, or of ``taprio``."""

    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
'''
"""Names for common parts of several Rust types."""
TOLD_APART = {"Gates", "GateChange"}
"""Objects of one union that a key tells apart: mypy follows ``"at_ns" in gates`` for final types alone."""
WIDTH = 110


def text() -> str:
    """The content of ``python/tsnbench/plan/types.py``."""
    types = [each for path in rust_types.sources() for each in rust_types.declared(path)]
    made = {_named(each.name): "\n\n".join(_declarations(each)) for each in types}
    return "\n\n".join([HEAD, *_in_order(made), SHARED])


def _named(name: str) -> str:
    return "PlanDocument" if name == "Plan" else name


def _in_order(made: dict[str, str]) -> Iterator[str]:
    """Each declaration after those that it names."""
    left = dict(made)

    def place(name: str) -> Iterator[str]:
        own = left.pop(name)
        for other in re.findall(r"\b[A-Z]\w+", re.sub(r'""".*?"""', "", own, flags=re.DOTALL)):
            if other in left:
                yield from place(other)
        yield own

    for name in made:
        if name in left:
            yield from place(name)


def _declarations(each: Struct | Enum) -> Iterator[str]:
    """An object; or the variants of an enum that are objects, and the enum as their union."""
    if isinstance(each, Struct):
        yield _object(_named(each.name), each.doc, each.fields)
        return
    cases = []
    for variant in each.variants:
        fields = (Field(variant.word, variant.holds, False),) if variant.holds else variant.fields
        if each.tagged or fields:
            cases.append(variant.name + each.name)
            yield _object(cases[-1], variant.doc, fields, variant.word if each.tagged else "")
    words = [f'"{one.word}"' for one in each.variants if not each.tagged and one.holds is None]
    yield f"{_union(each.name, words, cases)}\n{_quoted(each.doc)}\n"


def _union(name: str, words: list[str], cases: list[str]) -> str:
    """The alias of a union; words that do not fit on one line stand below each other."""
    listed = ", ".join(words)
    if len(listed) > WIDTH - len(f"{name} = Literal[]"):
        listed = "\n" + "".join(f"    {word},\n" for word in words)
    return f"{name} = " + " | ".join([f"Literal[{listed}]"] * bool(words) + cases)


def _object(name: str, doc: str, fields: tuple[Field, ...], kind: str = "") -> str:
    if any(keyword.iskeyword(field.name) for field in fields):
        keys = "".join(f'        "{field.name}": {field.annotation},\n' for field in fields)
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{keys}    }},\n)\n{_quoted(doc)}\n'
    lines = [_quoted(doc), "", *[f'kind: Literal["{kind}"]'] * bool(kind)]
    lines += [f"{field.name}: {field.annotation}" for field in fields]
    final = "@final\n" if name in TOLD_APART else ""
    return f"{final}class {name}(TypedDict):\n{textwrap.indent(chr(10).join(lines), '    ')}\n"


def _quoted(doc: str) -> str:
    """A docstring of the first paragraph."""
    lines = textwrap.wrap(f'"""{doc.partition(chr(10))[0]}', WIDTH - 7)
    return "\n".join(lines) + ('\n"""' if len(lines) > 1 else '"""')

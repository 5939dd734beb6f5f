"""The code that the table of mechanisms is held against: keys, parts of the Plan, reasons, refusals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support import rust_types
from support.mechanisms import ROOT
from tsnbench.backends.kernel import unsupported
from tsnbench.backends.kernel.device import Ports
from tsnbench.scenario.grammar.scenario import SCENARIO
from tsnbench.scenario.kinds.alike import Alike
from tsnbench.scenario.kinds.combinators import Either, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Kind


def keys(kind: Kind = SCENARIO, path: str = "", seen: set[int] | None = None) -> Iterator[str]:
    """The keys of a scenario that have no keys below them; keys of one mapping count where it is first."""
    seen = set() if seen is None else seen
    for record in records(kind):
        if id(record) in seen:
            continue
        seen.add(id(record))
        fields = dict(record.fields) | {pattern.example: pattern.field for pattern in record.patterns}
        for name, field in fields.items():
            own = f"{path}.{name}".lstrip(".")
            if all(id(one) in seen for one in records(field.kind)):
                yield own
            else:
                yield from keys(field.kind, own, seen)


def records(kind: Kind | None) -> Iterator[Record]:
    """The mappings that can stand for a value."""
    if isinstance(kind, Record):
        yield kind
    elif isinstance(kind, Alike):
        yield kind.record
    elif isinstance(kind, ListOf | MapOf):
        yield from records(kind.item if isinstance(kind, ListOf) else kind.value)
    elif isinstance(kind, Either):
        for one in (kind.text, kind.listing, kind.mapping):
            yield from records(one)


def plan_parts() -> list[str]:
    """The parts of a Plan that have no parts below them, as paths; from the Rust types."""
    types = {one.name: one for path in rust_types.sources() for one in rust_types.declared(path)}

    def below(name: str, path: str) -> Iterator[str]:
        one = types[name]
        if isinstance(one, rust_types.Struct):
            parts = [(field.name, field.rust) for field in one.fields]
        else:
            parts = [
                (case.word, " ".join([case.holds or "", *(own.rust for own in case.fields)]))
                for case in one.variants
            ]
        for part, rust in parts:
            own = f"{path}.{part}".lstrip(".")
            inner = [word for word in dict.fromkeys(re.findall(r"\w+", rust)) if word in types]
            yield from (found for word in inner for found in below(word, own)) if inner else [own]

    return list(dict.fromkeys(below("Plan", "")))


def variants(file: str, name: str) -> list[str]:
    """The variants of an enum."""
    text = re.sub(r"//.*", "", (ROOT / file).read_text(encoding="utf-8"))
    (body,) = re.findall(rf"^pub enum {name} \{{\n(.*?)^\}}", text, re.M | re.S)
    return re.findall(r"^    (\w+)", body, re.M)


def supported(ports: Ports, part: str) -> bool:
    """Whether a kernel's ports support a part of the Plan, as their refusals have it."""
    levels = {
        "": (unsupported.PLAN, "plan"),
        "nodes": (unsupported.NODE, ""),
        "ports": (unsupported.PORT, "port"),
        "ports.classes": (unsupported.CLASS, "class"),
        "ports.classes.cbs": (unsupported.CBS, ""),
        "ports.gates": (unsupported.GATES, "gates"),
        "ports.gates.changes": (unsupported.CHANGE, ""),
        "ports.gates.entries": (unsupported.ENTRY, ""),
        "streams": (unsupported.STREAM, ""),
        "faults": (set(unsupported.FAULTS), ""),
    }
    words = part.split(".")
    for depth, word in enumerate(words):
        known, more = levels.get(".".join(words[:depth]), (None, ""))
        if known is not None and word not in known | ports.more.get(more, frozenset()):
            return False
    return True


def quoted(file: str, function: str) -> set[str]:
    """The texts in quotes of a function."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    (own,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    return {
        node.value for node in ast.walk(own) if isinstance(node, ast.Constant) and type(node.value) is str
    }


def first_line(path: Path) -> str:
    """The first line of a file's own documentation."""
    text = path.read_text(encoding="utf-8")
    pattern = r'"""(.*)' if path.suffix == ".py" else r"//! ?(.*)"
    found = re.match(pattern, text)
    return found[1] if found else ""

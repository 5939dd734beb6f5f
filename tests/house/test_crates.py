"""No file of a crate needs another one that needs the first one, directly or through others.

The files and their needs are read from the sources: ``use`` and paths that begin with ``crate``, ``super``,
``self`` or a module of the file's own. A name that a module re-exports with ``pub use`` belongs to the file
that defines the name.

Two needs are not counted. Unit tests (the module ``tests``) may need anything. And a file may need its parent
modules: in Rust the file is a part of these modules and sees their private items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.package_imports import circle

CRATES = Path(__file__).resolve().parents[2] / "crates"
Module = tuple[str, ...]
ROOT = "the crate's root"

NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{\n.*?^\}", re.DOTALL | re.MULTILINE)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")


@dataclass
class Source:
    """One file: the modules that it declares, the names that it re-exports, and the paths that it names."""

    children: set[str] = field(default_factory=set)
    exports: dict[str, Module] = field(default_factory=dict)
    paths: set[Module] = field(default_factory=set)


def tree(text: str, before: Module = ()) -> Iterator[tuple[Module, str]]:
    """The paths of a ``use``, each with its name in the file: ``a::{b, c as d}`` has two paths."""
    depth, start, parts = 0, 0, []
    for at, letter in enumerate(text + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    for part in filter(None, parts):
        head, brace, rest = part.partition("{")
        if brace:
            yield from tree(rest.rstrip()[:-1], (*before, *head.strip().rstrip(":").split("::")))
            continue
        path, _, name = part.partition(" as ")
        words = (*before, *path.strip().split("::"))
        words = words[:-1] if words[-1] == "self" and len(words) > 1 else words
        yield words, name.strip() or words[-1]


def read(text: str) -> Source:
    text = TESTS.sub("", NOISE.sub('""', text))
    source = Source(children=set(re.findall(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);", text, re.MULTILINE)))
    for public, used in USE.findall(text):
        for path, name in tree(" ".join(used.split())):
            source.paths.add(path)
            if public:
                source.exports[name] = path
    source.paths |= {tuple(path.split("::")) for path in PATH.findall(USE.sub("", text))}
    return source


class Crate:
    """The files of one program or library, by module."""

    def __init__(self, sources: dict[Module, Source]) -> None:
        self.sources = sources

    def absolute(self, at: Module, path: Module) -> Module | None:
        """The path from the crate's root; none for other crates and for items of the file itself."""
        first, *rest = path
        if first in ("crate", "self", "super"):
            base = () if first == "crate" else at
            while first == "super" or (rest and rest[0] == "super"):
                base = base[:-1]
                if rest and rest[0] == "super":
                    rest = rest[1:]
                else:
                    break
            return (*base, *rest)
        return (*at, *path) if first in self.sources[at].children else None

    def owner(self, path: Module, hops: int = 8) -> Module:
        """The module whose file defines the item with this absolute path."""
        for length in range(len(path), -1, -1):
            module = path[:length]
            if module not in self.sources:
                continue
            name = path[length] if length < len(path) else None
            exported = self.sources[module].exports.get(name or "")
            if exported and hops:
                further = self.absolute(module, exported)
                if further is not None:
                    return self.owner((*further, *path[length + 1 :]), hops - 1)
            return module
        raise AssertionError(path)

    def needs(self) -> dict[str, set[str]]:
        graph: dict[str, set[str]] = {}
        for at, source in self.sources.items():
            found = (self.absolute(at, path) for path in source.paths)
            owners = {self.owner(path) for path in found if path is not None}
            around = {at[:length] for length in range(len(at) + 1)}
            graph["::".join(at) or ROOT] = {"::".join(owner) for owner in owners - around}
        return graph


def crate(root: Path) -> Crate:
    sources: dict[Module, Source] = {}

    def add(module: Module, file: Path, folder: Path) -> None:
        sources[module] = read(file.read_text(encoding="utf-8"))
        for child in sources[module].children:
            flat, nested = folder / f"{child}.rs", folder / child / "mod.rs"
            add((*module, child), flat if flat.exists() else nested, folder / child)

    add((), root, root.parent)
    return Crate(sources)


ROOTS = sorted(file for name in ("lib.rs", "main.rs") for file in CRATES.glob(f"*/src/{name}"))


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: f"{root.parts[-3]}-{root.stem}")
def test_no_files_need_each_other_in_a_circle(root: Path) -> None:
    assert circle(crate(root).needs()) == ""


MOST_ENTRIES = 16


def test_a_folder_has_few_entries() -> None:
    folders = {file.parent for file in CRATES.glob("*/src/**/*.rs")}
    assert {folder for folder in folders if len(list(folder.iterdir())) > MOST_ENTRIES} == set()


def test_every_file_is_read() -> None:
    files = {file for root in ROOTS for file in root.parent.rglob("*.rs")}
    assert sum(len(crate(root).sources) for root in ROOTS) >= len(files)


def test_a_circle_through_re_exported_names_is_found() -> None:
    sources = {
        (): read("mod a;\nmod b;\npub use a::One;\n"),
        ("a",): read("use crate::b::{self, Two as Second};\npub struct One;\n"),
        ("b",): read("use super::One;\npub struct Two;\n"),
    }
    graph = Crate(sources).needs()
    assert graph == {ROOT: {"a"}, "a": {"b"}, "b": {"a"}}
    assert circle(graph) == "a needs b needs a"
    unit_tests = "#[cfg(test)]\nmod tests {\n    use crate::One;\n}\n"
    sources["b",] = read("// use crate::One\nuse std::fmt;\npub struct Two;\n" + unit_tests)
    assert circle(Crate(sources).needs()) == ""

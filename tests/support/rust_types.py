"""Types of JSON in Rust sources, as serde reads and writes them.

This is no parser of Rust: it reads structs and enums that derive ``Serialize`` in rustfmt's layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

CRATES = Path(__file__).resolve().parents[2] / "crates"
SOURCES = CRATES / "plan/src"
DOC = r"((?:^ *///[^\n]*\n)*)"
DERIVED = re.compile(
    DOC + r"#\[derive\([^)]*\bSerialize\b[^)]*\)\]\n((?:#\[[^\n]*\]\n)*)"
    r"pub (struct|enum) (\w+) \{\n(.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
FIELD = re.compile(r"((?:#\[serde\([^\n]*\)\]\s*)?)(?:pub )?(?:r#)?([a-z]\w*): ([^\n]+),\n")
VARIANT = re.compile(
    DOC + r"(?:^    #\[[^\n]*\]\n)*^    ([A-Z]\w*)(?: \{\n(.*?)^    \}|\((\w+)\))?,$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Field:
    """One key of an object: its name, its Rust type, and whether it may be absent."""

    name: str
    rust: str
    optional: bool

    @property
    def annotation(self) -> str:
        """The equivalent annotation of a key in a ``TypedDict``."""
        text = from_rust(self.rust)
        if self.optional:
            return f"NotRequired[{text}]"
        return f"{text} | None" if self.rust.startswith("Option<") else text


def from_rust(rust: str) -> str:
    """The Python annotation of a Rust type's JSON."""
    rust = rust.rpartition("::")[2] if "<" not in rust else rust
    if inner := re.fullmatch(r"(?:Option|Box)<(.*)>", rust):
        return from_rust(inner[1])
    if inner := re.fullmatch(r"Vec<(.*)>", rust):
        none = " | None" if inner[1].startswith("Option<") else ""
        return f"list[{from_rust(inner[1])}{none}]"
    if re.fullmatch(r"\[u8; 8\]", rust):
        return "list[int]"
    if re.fullmatch(r"[iu](?:8|16|32|64|128|size)", rust):
        return "int"
    words = {
        "String": "str",
        "&'static str": "str",
        "f64": "float",
        "Tree": "list[TreeEntry]",
        "Reason": "str",
    }
    maps = {"BTreeMap<String, String>": "dict[str, str]", "BTreeMap<String, u64>": "dict[str, int]"}
    return {**words, **maps}.get(rust, rust)


@dataclass(frozen=True)
class Struct:
    """An object with keys."""

    name: str
    fields: tuple[Field, ...]
    doc: str


@dataclass(frozen=True)
class Variant:
    """One case of an enum: a bare word, an object, or one value under its name (``holds``)."""

    name: str
    fields: tuple[Field, ...]
    holds: str | None
    doc: str

    @property
    def word(self) -> str:
        """The variant's name in JSON."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", self.name).lower()


@dataclass(frozen=True)
class Enum:
    """An enum; ``tagged``: each variant is an object whose key ``kind`` has its name."""

    name: str
    tagged: bool
    variants: tuple[Variant, ...]
    doc: str


def sources() -> list[Path]:
    """The files that may declare parts of the Plan, without the checks."""
    return [
        path for path in sorted(SOURCES.rglob("*.rs")) if "check" not in path.relative_to(SOURCES).as_posix()
    ]


def declared(path: Path) -> list[Struct | Enum]:
    """The types that a file declares, in its order."""
    text = re.sub(r"^\s*//(?!/).*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: list[Struct | Enum] = []
    for doc, attributes, what, name, body in DERIVED.findall(text):
        if what == "struct":
            every = re.search(r"\bdefault\b", attributes) is not None
            fields = (replace(one, optional=one.optional or every) for one in _fields(body))
            found.append(Struct(name, tuple(fields), _doc(doc)))
        else:
            assert 'rename_all = "kebab-case"' in attributes
            variants = [
                Variant(case, _fields(own), holds or None, _doc(about))
                for about, case, own, holds in VARIANT.findall(body)
            ]
            found.append(Enum(name, 'tag = "kind"' in attributes, tuple(variants), _doc(doc)))
    return found


def _fields(body: str) -> tuple[Field, ...]:
    return tuple(
        Field(name, rust, "default" in attribute or "skip_serializing_if" in attribute)
        for attribute, name, rust in FIELD.findall(body)
        if "skip)" not in attribute
    )


def _doc(comment: str) -> str:
    """The text of a doc comment: each paragraph is one line, and code stands between two backticks."""
    text = re.sub(r"^ *///[ ]?", "", comment, flags=re.MULTILINE).strip()
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace("`", "``")

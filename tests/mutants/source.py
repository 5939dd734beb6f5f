"""Rust source with all of its mutants in it: `mutant(7)` is true in a run that asks for number 7.

One build then is enough for all mutants of a crate, where cargo-mutants builds once for each. Which mutants
there are, cargo-mutants says; where the operands of an operator end is known from the syntax tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))
COMPARISONS = {"==", "!=", "<", ">", "<=", ">="}
LAZY = {"&&", "||"}
# What asks for a mutant; goes to the end of the crate's lib.rs.
GATE = """
/// Whether this run is to have this mutant.
pub(crate) fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = || std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *CHOSEN.get_or_init(chosen) == number
}
"""


@dataclass(frozen=True)
class Mutant:
    """One entry of `cargo mutants --list --json`; numbers begin with 1."""

    number: int
    name: str
    file: str
    genre: str
    line: int
    column: int
    replacement: str

    @classmethod
    def of(cls, number: int, listed: dict[str, Any]) -> Mutant:
        start = listed["span"]["start"]
        return cls(
            number,
            listed["name"],
            listed["file"],
            listed["genre"],
            start["line"],
            start["column"],
            listed["replacement"].strip(),
        )


class Source:
    """A file, and its mutants."""

    def __init__(self, text: str, mutants: Iterable[Mutant]) -> None:
        self.octets = text.encode()
        self.root = PARSER.parse(self.octets).root_node
        self.without: set[int] = set()
        self.written: set[int] = set()
        lines = text.split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        self.places: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            before = lines[mutant.line - 1][: mutant.column - 1]
            self.places[mutant.genre, starts[mutant.line - 1] + len(before.encode())].append(mutant)

    def render(self, without: set[int]) -> str:
        """The source with all mutants but these; `written` says which it has."""
        self.without, self.written = without, set()
        inner = self._children(self.root, self.root.children, self.root.start_byte, self.root.end_byte)
        return (
            self.octets[: self.root.start_byte].decode() + inner + self.octets[self.root.end_byte :].decode()
        )

    def _here(self, genre: str, place: int) -> list[Mutant]:
        return [mutant for mutant in self.places.get((genre, place), []) if mutant.number not in self.without]

    def _text(self, node: Node) -> str:
        return self.octets[node.start_byte : node.end_byte].decode()

    def _children(self, node: Node, children: Iterable[Node], start: int, end: int) -> str:
        parts = []
        for child in children:
            parts += [self.octets[start : child.start_byte].decode(), self._node(child)]
            start = child.end_byte
        return "".join(parts) + self.octets[start:end].decode()

    def _node(self, node: Node) -> str:
        changed = None if _is_constant(node) else self._changed(node)
        if changed is not None:
            return changed
        return self._children(node, node.children, node.start_byte, node.end_byte)

    def _changed(self, node: Node) -> str | None:
        match node.type:
            case "binary_expression" | "compound_assignment_expr":
                return self._operator(node)
            case "unary_expression":
                return self._unary(node)
            case "match_arm":
                return self._arm(node)
            case "field_initializer" | "shorthand_field_initializer":
                return self._field(node)
            case "block" if node.parent is not None and node.parent.type == "function_item":
                return self._body(node)
        return None

    def _marked(self, mutants: list[Mutant], text: str) -> str:
        """Between comments that name the mutants, so that a compiler's error is known to be theirs."""
        numbers = ",".join(str(mutant.number) for mutant in mutants)
        self.written |= {mutant.number for mutant in mutants}
        return f"/*<{numbers}*/{text}/*{numbers}>*/"

    def _operator(self, node: Node) -> str | None:
        operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
        if operator is None or left is None or right is None:
            return None
        mutants = self._here("BinaryOperator", operator.start_byte)
        if not mutants:
            return None
        own = self._text(operator)
        a, b = self._node(left), self._node(right)

        def choose(one: str, other: str) -> str:
            ways = (
                f"if crate::mutant({m.number}) {{ {one} {m.replacement} {other} }} else " for m in mutants
            )
            return "".join(ways) + f"{{ {one} {own} {other} }}"

        if node.type == "compound_assignment_expr":
            return self._marked(mutants, f"{{ {choose(a, b)} }}")
        if own in COMPARISONS:
            return self._marked(
                mutants, f"(match (&({a}), &({b})) {{ (l__, r__) => {choose('*l__', '*r__')} }})"
            )
        if own in LAZY:
            if _has_let(node):
                return None
            return self._marked(mutants, f"({{ let l__ = {a}; {choose('l__', f'({b})')} }})")
        return self._marked(mutants, f"({{ let (l__, r__) = ({a}, {b}); {choose('l__', 'r__')} }})")

    def _unary(self, node: Node) -> str | None:
        mutants = self._here("UnaryOperator", node.start_byte)
        if not mutants:
            return None
        operand, operator = self._node(node.children[-1]), self._text(node.children[0])
        number = mutants[0].number
        return self._marked(
            mutants, f"(if crate::mutant({number}) {{ {operand} }} else {{ {operator}{operand} }})"
        )

    def _arm(self, node: Node) -> str | None:
        pattern = node.child_by_field_name("pattern")
        if pattern is None:
            return None
        guard = pattern.child_by_field_name("condition")
        deleted = self._here("MatchArm", node.start_byte)
        guards = self._here("MatchArmGuard", guard.start_byte) if guard is not None else []
        if not deleted + guards or (guard is not None and _has_let(guard)):
            return None
        shown, condition = self._node(pattern), ""
        if guard is not None:
            keyword = next(child for child in pattern.children if child.type == "if")
            shown = self.octets[pattern.start_byte : keyword.start_byte].decode().rstrip()
            condition = f"({self._node(guard)})"
        for mutant in guards:
            with_it = "crate::mutant" if mutant.replacement == "true" else "!crate::mutant"
            how = "||" if mutant.replacement == "true" else "&&"
            condition = f"({with_it}({mutant.number}) {how} {condition})"
        for mutant in deleted:
            condition = f"!crate::mutant({mutant.number})" + (f" && {condition}" if condition else "")
        rest = [child for child in node.children if child.start_byte >= pattern.end_byte]
        before = self.octets[node.start_byte : pattern.start_byte].decode()
        after = self._children(node, rest, pattern.end_byte, node.end_byte)
        return f"{before}{shown} if {self._marked(deleted + guards, condition)}{after}"

    def _field(self, node: Node) -> str | None:
        mutants = self._here("StructField", node.start_byte)
        siblings = node.parent.children if node.parent is not None else []
        base = next((one for one in siblings if one.type == "base_field_initializer"), None)
        if not mutants or base is None:
            return None
        short = node.type == "shorthand_field_initializer"
        name = self._text(node if short else node.children[0])
        value = name if short else self._node(node.children[-1])
        other = f"({self._text(base.children[-1])}).{name}"
        chosen = f"(if crate::mutant({mutants[0].number}) {{ {other} }} else {{ {value} }})"
        return f"{name}: {self._marked(mutants, chosen)}"

    def _body(self, node: Node) -> str | None:
        inner = [child for child in node.children if child.type not in "{}"]
        # An iterator of another type than the one that the function gives does not compile beside it.
        mutants = [
            mutant
            for child in inner
            for mutant in self._here("FnValue", child.start_byte)
            if "::iter::" not in mutant.replacement
        ]
        if not mutants:
            return None
        early = [
            self._marked([mutant], f" if crate::mutant({mutant.number}) {{ return {mutant.replacement}; }} ")
            for mutant in mutants
        ]
        return "{" + "".join(early) + self._children(node, inner, node.start_byte + 1, node.end_byte)


def _is_constant(node: Node) -> bool:
    """Whether it is evaluated by the compiler, which cannot ask for a mutant."""
    above: Node | None = node
    while above is not None:
        if above.type in ("const_item", "static_item", "const_block", "enum_variant", "array_type"):
            return True
        if above.type == "function_item":
            words = (child for child in above.children if child.type == "function_modifiers")
            return any(word.text is not None and b"const" in word.text for word in words)
        above = above.parent
    return False


def _has_let(node: Node) -> bool:
    if node.type in ("let_condition", "let_chain"):
        return True
    inner = (
        child for child in node.children if child.type not in ("block", "closure_expression", "match_block")
    )
    return any(_has_let(child) for child in inner)

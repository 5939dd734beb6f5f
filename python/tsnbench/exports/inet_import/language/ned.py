"""NED files: networks, modules and channels with their parameters, submodules and connections."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.exports.inet_import.language.expressions import Node, expression, operand
from tsnbench.exports.inet_import.language.tokens import Reader

LARGEST_FILE = 4 << 20
_KINDS = ("network", "module", "simple", "channel", "moduleinterface", "channelinterface")
_SECTIONS = ("parameters", "types", "gates", "submodules", "connections")
_TYPES = ("double", "int", "string", "bool", "object", "xml")
DEEPEST = 20
"""Levels of loops and conditions, and of types within types."""


@dataclass(frozen=True)
class Assigned:
    """A parameter with its value: ``pattern`` is a name, or a pattern of paths below the module."""

    pattern: str
    value: Node
    is_default: bool
    line: int


@dataclass(frozen=True)
class Submodule:
    """``like`` modules have an expression for their type, and others a name."""

    name: str
    size: Node | None
    type_name: str
    like: Node | None
    condition: Node | None
    assigned: tuple[Assigned, ...]
    line: int


@dataclass(frozen=True)
class End:
    """An end of a connection: ``index`` is None for a single gate or module, ``grows`` for ``gate++``."""

    module: str
    module_index: Node | None
    gate: str
    gate_index: Node | None
    grows: bool


@dataclass(frozen=True)
class Connection:
    """A connection, or with ``loop`` or ``condition`` a group of connections."""

    left: End | None
    right: End | None
    two_ways: bool
    channel: str
    assigned: tuple[Assigned, ...]
    line: int
    loop: tuple[str, Node, Node] | None = None
    condition: Node | None = None
    inner: tuple[Connection, ...] = ()


@dataclass
class Type:
    """A network, module or channel."""

    kind: str
    name: str
    file: str
    line: int
    package: str = ""
    base: str = ""
    imports: tuple[str, ...] = ()
    assigned: list[Assigned] = field(default_factory=list)
    submodules: list[Submodule] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)


def parse(text: str, file: str) -> list[Type]:
    """The types of a NED file.

    Raises:
        ContentError: it is no NED; the message has the line.
    """
    reader = Reader(text, file)
    package, imports, found = "", [], []
    while reader.now.kind != "end":
        if reader.skip("package"):
            package = _dotted(reader)
            reader.need(";")
        elif reader.skip("import"):
            imports.append(_dotted(reader))
            reader.need(";")
        elif reader.sees("@"):
            _property(reader)
            reader.need(";")
        elif reader.sees("property"):
            _statement(reader)
        else:
            found.append(_type(reader, 0))
    for one in found:
        one.package, one.imports = package, tuple(imports)
    return found


def _dotted(reader: Reader) -> str:
    name = ""
    while not reader.sees(";", "{", "}", ",") and reader.now.kind in ("word", "sign"):
        if not (reader.now.kind == "word" or reader.sees(".", "*", "**")):
            break
        name += reader.take().text
    return name


def _type(reader: Reader, depth: int) -> Type:
    if depth > DEEPEST:
        raise reader.wrong(f"at most {DEEPEST} levels of types")
    if not reader.sees(*_KINDS):
        raise reader.wrong("a network, a module or a channel")
    kind = reader.take()
    made = Type(kind.text, reader.word("a name").text, reader.file, kind.line)
    while not reader.skip("{"):
        if reader.skip("extends"):
            made.base = _name(reader)
        elif reader.skip("like"):
            _name(reader)
        elif not reader.skip(","):
            raise reader.wrong("`{`")
        else:
            _name(reader)
    section = "parameters"
    while not reader.skip("}"):
        if reader.sees(*_SECTIONS) and _opens_section(reader):
            section = reader.take().text
            reader.skip("allowunconnected")
            reader.need(":")
        elif section == "parameters":
            made.assigned += _parameter(reader)
        elif section == "types":
            inner = _type(reader, depth + 1)
            made.types[inner.name] = inner
        elif section == "gates":
            _statement(reader)
        elif section == "submodules":
            made.submodules.append(_submodule(reader))
        else:
            made.connections.append(_connection(reader, 0))
    return made


def _opens_section(reader: Reader) -> bool:
    following = reader.tokens[reader.at + 1].text
    return following in (":", "allowunconnected")


def _name(reader: Reader) -> str:
    name = reader.word("a name").text
    while reader.skip("."):
        name += f".{reader.word('a name').text}"
    return name


def _statement(reader: Reader) -> None:
    """Passes over everything up to the next semicolon."""
    while not reader.skip(";"):
        if reader.take().kind == "end":
            raise reader.wrong("`;`")


def _property(reader: Reader) -> None:
    """Passes over ``@name(…)``, ``@name[index](…)``."""
    reader.need("@")
    reader.word("the name of a property")
    while reader.skip(":"):
        reader.word("a name")
    if reader.sees("["):
        _bracketed(reader, "[", "]")
    if reader.sees("("):
        _bracketed(reader, "(", ")")


def _bracketed(reader: Reader, begin: str, end: str) -> None:
    depth = 0
    while True:
        token = reader.take()
        if token.kind == "end":
            raise reader.wrong(f"`{end}`")
        if token.kind == "sign":
            depth += (token.text == begin) - (token.text == end)
        if depth == 0:
            return


def _parameter(reader: Reader) -> list[Assigned]:
    """A declaration or an assignment, without its properties."""
    if reader.sees("@"):
        _property(reader)
        reader.skip(";")
        return []
    line = reader.now.line
    reader.skip("volatile")
    if reader.sees(*_TYPES) and reader.tokens[reader.at + 1].kind == "word":
        reader.take()
    begin = reader.at
    while not (reader.sees("=", ";", "@") or reader.now.kind == "end"):
        reader.take()
    stop, reader.at = reader.at, begin
    pattern = reader.before(stop)
    reader.at = stop
    while reader.sees("@"):
        _property(reader)
    found = []
    if reader.skip("="):
        value, is_default = expression(reader), False
        if value.kind == "call" and value.text == "default" and len(value.parts) == 1:
            value, is_default = value.parts[0], True
        found.append(Assigned(pattern, value, is_default, line))
    reader.need(";")
    return found


def _body(reader: Reader) -> tuple[Assigned, ...]:
    """The parameters of a submodule or a channel; its gates are passed over."""
    found: list[Assigned] = []
    section = "parameters"
    while not reader.skip("}"):
        if reader.sees("parameters", "gates") and _opens_section(reader):
            section = reader.take().text
            reader.need(":")
        elif section == "gates":
            _statement(reader)
        else:
            found += _parameter(reader)
    return tuple(found)


def _submodule(reader: Reader) -> Submodule:
    name = reader.word("the name of a submodule")
    size = like = condition = None
    if reader.skip("["):
        size = expression(reader)
        reader.need("]")
    reader.need(":")
    if reader.skip("<"):
        # `<>`: the type comes from the ini file. A `>` in the expression would end it.
        like = Node("text", "") if reader.sees(">") else _like(reader)
        reader.need(">")
        reader.need("like")
        kind = _name(reader)
    else:
        kind = _name(reader)
        if reader.skip("like"):
            _name(reader)
    if reader.skip("if"):
        condition = expression(reader)
    assigned: tuple[Assigned, ...] = ()
    if reader.skip("{"):
        assigned = _body(reader)
        reader.skip(";")
    else:
        reader.need(";")
    return Submodule(name.text, size, kind, like, condition, assigned, name.line)


def _like(reader: Reader) -> Node:
    """The type between ``<`` and ``>``."""
    if reader.sees("default"):
        reader.take()
        reader.need("(")
        found = expression(reader)
        reader.need(")")
        return found
    return operand(reader)


def _end(reader: Reader) -> End:
    module, module_index = "", None
    name = reader.word("a module or a gate").text
    index = _index(reader)
    if reader.skip("."):
        module, module_index = name, index
        name = reader.word("a gate").text
        if reader.skip("$"):
            reader.word("i or o")
        index = _index(reader)
    elif reader.skip("$"):
        reader.word("i or o")
        index = _index(reader)
    return End(module, module_index, name, index, reader.skip("++"))


def _index(reader: Reader) -> Node | None:
    if not reader.skip("["):
        return None
    found = expression(reader)
    reader.need("]")
    return found


def _connection(reader: Reader, depth: int) -> Connection:
    if depth > DEEPEST:
        raise reader.wrong(f"at most {DEEPEST} levels of loops")
    line = reader.now.line
    if reader.sees("for", "if"):
        return _group(reader, line, depth)
    left = _end(reader)
    if not reader.sees("<-->", "-->", "<--"):
        raise reader.wrong("`<-->`")
    arrow = reader.take().text
    channel, assigned = "", tuple[Assigned, ...]()
    second = reader.at
    if reader.sees("{") or not _is_end(reader):
        reader.at = second
        channel, assigned = _channel(reader)
        reader.need(arrow)
    else:
        reader.at = second
    right = _end(reader)
    found = Connection(left, right, arrow == "<-->", channel, assigned, line)
    while reader.sees("for", "if"):
        found = _wrapped(reader, found, line)
        reader.skip(",")
    reader.need(";")
    return found


def _is_end(reader: Reader) -> bool:
    """Whether the connection ends here, without a channel."""
    at = reader.at
    while reader.tokens[at].kind != "end" and reader.tokens[at].text not in (";", "<-->", "-->", "<--", "{"):
        at += 1
    return reader.tokens[at].text == ";" or reader.tokens[at].kind == "end"


def _channel(reader: Reader) -> tuple[str, tuple[Assigned, ...]]:
    name = ""
    if reader.skip("<"):
        made = _like(reader)
        name = made.text if made.kind == "text" else ""
        reader.need(">")
        reader.need("like")
        _name(reader)
    elif not reader.sees("{"):
        name = _name(reader)
        if reader.skip(":"):
            name = _name(reader)
    return name, _body(reader) if reader.skip("{") else ()


def _group(reader: Reader, line: int, depth: int) -> Connection:
    heads = []
    while True:
        heads.append(_head(reader))
        if not reader.skip(",") and not reader.sees("for", "if"):
            break
    reader.need("{")
    inner = []
    while not reader.skip("}"):
        inner.append(_connection(reader, depth + 1))
    reader.skip(";")
    found = tuple(inner)
    for loop, condition in reversed(heads):
        found = (Connection(None, None, True, "", (), line, loop, condition, found),)
    return found[0]


def _head(reader: Reader) -> tuple[tuple[str, Node, Node] | None, Node | None]:
    if reader.skip("if"):
        return None, expression(reader)
    reader.need("for")
    name = reader.word("a name").text
    reader.need("=")
    low = expression(reader)
    reader.need("..")
    return (name, low, expression(reader)), None


def _wrapped(reader: Reader, inner: Connection, line: int) -> Connection:
    loop, condition = _head(reader)
    return Connection(None, None, True, "", (), line, loop, condition, (inner,))

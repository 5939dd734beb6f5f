"""YAML that the native parser refuses: read again with ruamel.yaml, which finds mistakes at their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tsnbench.libraries import ruamel_yaml
from tsnbench.scenario.errors import ScenarioErrors, failure
from tsnbench.scenario.text.braces import unmarked
from tsnbench.scenario.text.builder import ALIAS, END, MAPPING, PLAIN, QUOTED, SEQUENCE
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import shown

Event = tuple[int, Place, object, str]
"""Its kind (:mod:`.builder`), place, anchor and text."""


def slow_events(text: str, file: str) -> Iterator[Event]:
    """The events of a text, or :class:`ScenarioErrors` with its first mistake of spelling."""
    documents = 0
    try:
        for event in ruamel_yaml.YAML(typ="safe", pure=True).parse(text):
            place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
            if type(event).__name__ == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    hint = "a file has one document: put the second one into a file of its own"
                    raise failure(file, "one document", "a second one after ---", hint, place)
            yield from _events(event, place, file)
    except ruamel_yaml.error.YAMLError as error:
        raise _spelling(file, text, error) from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, ScenarioErrors):
            raise
        # ruamel decodes some escapes with chr() and does not look whether such a character exists.
        raise failure(file, "YAML", f"text that YAML cannot hold ({shown(str(error))})") from None


def _events(event: Any, place: Place, file: str) -> Iterator[Event]:
    """An event of ruamel as the builder takes it; none for the begin and end of a document."""
    kind = type(event).__name__
    if getattr(event, "tag", None) is not None:
        hint = "leave the tag out; the key decides the type of the value"
        tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        raise failure(file, "a value without a tag", f"the tag {shown(tag)}", hint, place)
    if kind == "ScalarEvent":
        text = unmarked(event.value)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise failure(file, "a character", "half of a surrogate pair", place=place)
        yield PLAIN if event.style is None else QUOTED, place, event.anchor, text
    elif kind == "AliasEvent":
        yield ALIAS, place, event.anchor, event.anchor
    elif kind in ("SequenceStartEvent", "MappingStartEvent"):
        yield MAPPING if kind == "MappingStartEvent" else SEQUENCE, place, event.anchor, ""
    elif kind in ("SequenceEndEvent", "MappingEndEvent"):
        yield END, place, None, ""


def _spelling(file: str, text: str, error: Any) -> ScenarioErrors:
    """A YAML library's message in a beginner's words."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", "") or "")
    context = str(getattr(error, "context", "") or "")
    place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
    if mark is None:  # an error of the reader: a character that YAML forbids
        position = getattr(error, "position", 0)
        place = Place(text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1) + 1)
        found = (
            f"the character U+{ord(text[position]):04X}" if position < len(text) else "a control character"
        )
        return failure(file, "a character that YAML allows", found, "is this a text file?", place)
    if "'\\t'" in problem:
        return failure(file, "spaces", "a tab", "YAML is indented with spaces only", place)
    if "alias" in context:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = 'write all for *, or put quotes around it: "* -> node1"'
        return failure(file, "a value", "a bare *", hint, place)
    if "mapping values are not allowed" in problem:
        hint = "put quotes around a text with a colon, or check the indentation of this line"
        return failure(file, "one key and its value", "a second colon", hint, place)
    if "expected ',' or" in problem:
        wanted, got = ("]", "list [") if "sequence" in context else ("}", "mapping {")
        opened = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = f"the {got} opened in line {opened.line}, column {opened.column} is not closed before this"
        line = text.splitlines()[opened.line - 1]
        word = re.search(r"\S+$", line[: place.column - 1])
        if opened.line == place.line and word and "got ':'" in problem:
            hint = f"write a comma before {word[0]}, or close the {got}"
        if " #" in "".join(text.splitlines(True)[opened.line - 1 : place.line]):
            hint += "; a # after a space begins a comment: write dut#2"
        return failure(file, f'"," or "{wanted}"', _token(problem), hint, place)
    if closing := re.search(r"expected <block end>, but found '([]},])'", problem):
        opening = {"}": "no { is", "]": "no [ is", ",": "no list is"}[closing[1]]
        hint = f"{opening} open here: leave the {closing[1]} out"
        return failure(file, "the end of the value", closing[1], hint, place)
    if "expected <block end>" in problem:
        hint = "keys of one level start in the same column; check the quotes and the indentation here"
        return failure(file, "the same indentation as above", _token(problem), hint, place)
    if "node content, but found ','" in problem:
        return failure(file, "a value", "a second comma", "leave one of the two commas out", place)
    if first := re.search(r"character '(.)' that cannot start any token", problem):
        hint = f"put quotes around a text that begins with {first[1]}"
        return failure(file, "a value", first[1], hint, place)
    if "could not find expected ':'" in problem:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = "write key: value, with a space after the colon"
        line = text.splitlines()[place.line - 1].strip()
        if re.match("-[^- ]", line):
            hint = f"write - {shown(line[1:])}, with a space after the dash"
            return failure(file, "an item of the list", shown(line), hint, place)
        return failure(file, "a colon after a key", "none", _line_of_others(line) or hint, place)
    if "quoted scalar" in context and "end of stream" in problem:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        return failure(file, "a closing quote", "the end of the file", "close the quote", place)
    return failure(file, "YAML", shown(f"{problem or error}"), place=place)


_COMMENT = "//|/\\*|--|;|%|REM "
_OTHERS = {
    r"\[[^],]*\]\s*$|\**\..*=|[\w.\[\]*]+ *=": "an .ini file",
    r"(network|package|import|simple|module|submodules) *[\w. ]*[;{]?$": "a .ned file",
    "<": "XML",
    r"[\w ()\[\]/%-]+([,;\t][\w ()\[\]/%.-]*){2,}$": "a table",
}
"""Lines of files of other kinds, and these kinds."""


def other_kind(text: str) -> tuple[str, str, Place] | None:
    """The kind of a file that is no YAML, what to do, and the place of its first line that is no comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not re.match(rf"\s*(#|{_COMMENT})", line):
            kind = _kind(line)
            hint = "tsnbench init small writes a scenario to begin with"
            if kind == "a table":
                hint = "name it in a scenario: streams: {table: streams.csv}"
            return (kind, hint, Place(number, 1)) if kind else None
    return None


def _kind(line: str) -> str:
    return next((kind for begin, kind in _OTHERS.items() if re.match(begin, line.strip())), "")


def _line_of_others(line: str) -> str:
    """A hint for a line that other programs read; empty for other lines."""
    if re.match(_COMMENT, line):
        return "a comment begins with #"
    if re.match(r"!?include\b", line):
        return "leave it out: a scenario is one file, but for tables, streams: {table: streams.csv}"
    kind = _kind(line)
    return f"this looks like {kind}: a scenario is YAML, key: value" if kind else ""


def _token(problem: str) -> str:
    got = re.search(r"(?:got|found) '?<?([^'>]*)", problem)
    words = {
        "stream end": "the end of the file",
        "block mapping start": "a key of another level",
        "block sequence start": "a list of another level",
        "scalar": "more text",
        "block end": "the end of the block",
    }
    return words.get(got[1], shown(got[1])) if got else "something else"

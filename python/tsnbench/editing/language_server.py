"""The language server: problems while the user types, completions, and meanings of keys.

Language Server Protocol 3.17, over standard input and output.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from tsnbench.editing.completion import Names, complete, meaning
from tsnbench.editing.fixes import offered, words_at
from tsnbench.editing.incoming import Incoming, Outgoing, note_in_lines
from tsnbench.editing.problems import Checked, checked_scenarios
from tsnbench.version import __version__

PAUSE_S = 0.15
"""A text is checked when nothing was typed for so long."""
SOURCE = "tsnbench"
_SCENARIO = re.compile(r"^(?:network|streams)\s*:", re.MULTILINE)
_KINDS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "name": types.CompletionItemKind.Variable,
}


@dataclass
class _Open:
    """The state of an open text."""

    names: Names = field(default_factory=Names)
    """Of its last version that could be read."""
    hints: list[tuple[types.Diagnostic, str]] = field(default_factory=list)


def is_scenario(text: str) -> bool:
    """Whether a YAML file is a scenario: the server ignores other files that an editor has open."""
    return len(set(_SCENARIO.findall(text))) == 2


def server() -> LanguageServer:
    """A server that has not begun to read."""
    made = LanguageServer(SOURCE, f"v{__version__}")
    own = _Texts(made)
    for feature, answer in (
        (types.TEXT_DOCUMENT_DID_OPEN, own.opened),
        (types.TEXT_DOCUMENT_DID_CHANGE, own.changed),
        (types.TEXT_DOCUMENT_DID_SAVE, own.saved),
        (types.TEXT_DOCUMENT_DID_CLOSE, own.closed),
        (types.TEXT_DOCUMENT_HOVER, own.hover),
        (types.TEXT_DOCUMENT_CODE_ACTION, own.actions),
    ):
        # The library sets attributes of its functions, which a method does not take.
        made.feature(feature)(partial(answer))
    triggers = types.CompletionOptions(trigger_characters=[" ", "{", "[", ","])
    made.feature(types.TEXT_DOCUMENT_COMPLETION, triggers)(partial(own.completion))
    return made


def serve() -> None:
    """Answers the messages on standard input until it ends; no message ends it."""
    note_in_lines()
    out = Outgoing(sys.stdout.buffer)
    # The library reads with these two methods alone, and writes with the other's.
    server().start_io(cast(BinaryIO, Incoming(sys.stdin.buffer, out)), cast(BinaryIO, out))


class _Texts:
    """The open texts of a server, and the answers about them."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.open: dict[str, _Open] = {}
        # Checks of a large text take seconds, so only one runs at a time.
        self.turn = asyncio.Lock()

    async def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self.open[params.text_document.uri] = _Open()
        await self.check(params.text_document.uri)

    async def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        await self.check(params.text_document.uri, PAUSE_S)

    async def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        # A table beside the scenario may have changed.
        await self.check(params.text_document.uri)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self.open.pop(params.text_document.uri, None)
        self.publish(params.text_document.uri, None, [])

    async def check(self, uri: str, pause: float = 0) -> None:
        """Checks a text after a pause, unless it is closed or changed meanwhile."""
        version = self.document(uri).version
        await asyncio.sleep(pause)
        async with self.turn:
            if self.is_current(uri, version):
                await self.check_now(uri, version)

    async def check_now(self, uri: str, version: int | None) -> None:
        text = self.document(uri).source
        if not is_scenario(text):
            self.publish(uri, version, [])
            return
        file = uris.to_fs_path(uri) or uri
        loop = asyncio.get_running_loop()
        try:
            answer, scenarios = await loop.run_in_executor(None, checked_scenarios, text, file)
            found = diagnostics(answer, text, file)
        except Exception as error:
            # The server continues, and the user sees that this text was not checked.
            said = f"tsnbench could not check this text: {type(error).__name__}: {error}"
            scenarios, found = [], [_diagnostic(text.split("\n"), file, file, (1, 1), said, "")]
        # An answer to an earlier version of the text is not shown.
        if not self.is_current(uri, version):
            return
        if scenarios:
            self.open[uri].names = Names.of(scenarios)
        self.open[uri].hints = found
        self.publish(uri, version, [one for one, _ in found])

    def document(self, uri: str) -> TextDocument:
        return self.server.workspace.get_text_document(uri)

    def is_current(self, uri: str, version: int | None) -> bool:
        """Whether a text is open and has this version."""
        return uri in self.open and self.document(uri).version == version

    def publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        told = types.PublishDiagnosticsParams(uri, found, version)
        self.server.text_document_publish_diagnostics(told)

    def completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        uri = params.text_document.uri
        text = self.document(uri).source
        if uri not in self.open or not is_scenario(text):
            return []
        line, column = characters(text, params.position)
        return [
            types.CompletionItem(
                label=one.text,
                kind=_KINDS[one.kind],
                detail=one.about or None,
                insert_text=f"{one.text}: " if one.kind == "key" else one.text,
            )
            for one in complete(text, line, column, self.open[uri].names)
        ]

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        text = self.document(params.text_document.uri).source
        if not is_scenario(text):
            return None
        said = meaning(text, *characters(text, params.position))
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, said)) if said else None

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        found = []
        for one, hint in self.open[uri].hints if uri in self.open else []:
            if one.range.start.line != params.range.start.line:
                continue
            for number, word in enumerate(offered(hint)):
                edit = types.WorkspaceEdit(changes={uri: [types.TextEdit(one.range, word)]})
                action = types.CodeAction(f"Write {word}", types.CodeActionKind.QuickFix, edit=edit)
                action.diagnostics, action.is_preferred = [one], number == 0
                found.append(action)
        return found


def diagnostics(answer: Checked, text: str, file: str) -> list[tuple[types.Diagnostic, str]]:
    """Problems and warnings at their places, each with its hint."""
    lines = text.split("\n")
    found = []
    for one in answer["problems"]:
        said = f"expected {one['expected']}, found {one['found']}"
        if one["path"]:
            said = f"{one['path']}: {said}"
        place = (int(one["line"]), int(one["column"]))
        made = _diagnostic(lines, file, str(one["file"]), place, said, str(one["hint"]))
        made[0].code = str(one["code"])
        found.append(made)
    for warning in answer["warnings"]:
        where, line, column = (warning["place"] or f"{file}:1:1").rsplit(":", 2)
        said = f"{warning['where']}: {warning['text']}"
        made = _diagnostic(lines, file, where, (int(line), int(column)), said, warning["hint"])
        made[0].severity = types.DiagnosticSeverity.Warning
        made[0].code = warning["code"]
        found.append(made)
    return found


def _diagnostic(
    lines: list[str], file: str, where: str, place: tuple[int, int], said: str, hint: str
) -> tuple[types.Diagnostic, str]:
    if where != file:
        # The mistake is in a table beside the scenario.
        said, place = f"{Path(where).name}:{place[0]}:{place[1]}: {said}", (1, 1)
    words = words_at(lines, place[0] - 1, place[1] - 1)
    own = lines[words.line]
    span = types.Range(_position(own, words.line, words.column), _position(own, words.line, words.end))
    message = f"{said}\nhint: {hint}" if hint else said
    return types.Diagnostic(span, message, severity=types.DiagnosticSeverity.Error, source=SOURCE), hint


def _position(own: str, line: int, column: int) -> types.Position:
    """A position of the protocol, in UTF-16 units, from a place of tsnbench, in characters."""
    return types.Position(line, len(own[:column].encode("utf-16-le")) // 2)


def characters(text: str, position: types.Position) -> tuple[int, int]:
    """Line and column of a position, in characters."""
    lines = text.split("\n")
    line = min(position.line, len(lines) - 1)
    before = lines[line].encode("utf-16-le")[: 2 * position.character]
    return line, len(before.decode("utf-16-le", errors="ignore"))

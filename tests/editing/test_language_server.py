"""The language server as editors use it: a process and messages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from lsprotocol import types
from pygls.workspace import Workspace

from editing.client import Client
from editing.test_completion import TEXT, at
from support.commands import tsnbench
from tsnbench.editing import language_server
from tsnbench.editing.problems import Checked, checked_scenarios
from tsnbench.scenario.model import Scenario

ERRORS = sorted((Path(__file__).parents[1] / "errors").glob("*.yaml"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(tmp_path_factory.mktemp("lsp")) as made:
        yield made


def position(text: str) -> tuple[str, dict[str, int]]:
    clean, line, column = at(text)
    return clean, {"line": line, "character": column}


def test_a_good_scenario_has_no_problem_and_a_mistake_is_underlined(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "two.yaml").as_uri()
    assert client.open(uri, TEXT) == []
    client.change(uri, 2, TEXT.replace("to: two, pcp", "to: tow, pcp"))
    (found,) = client.problems(uri, 2)
    line = next(number for number, own in enumerate(TEXT.split("\n")) if "cam:" in own)
    column = TEXT.split("\n")[line].index("to: two") + 4
    assert found["range"] == {
        "start": {"line": line, "character": column},
        "end": {"line": line, "character": column + 3},
    }
    assert (found["severity"], found["source"], found["code"]) == (1, "tsnbench", "TSN0401")
    assert found["message"].startswith("streams.cam.to: expected ")
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = client.ask("textDocument/codeAction", params)
    assert action["title"] == "Write two"
    assert action["edit"]["changes"][uri] == [{"range": found["range"], "newText": "two"}]


def test_problems_are_those_of_the_command_check(client: Client, tmp_path: Path) -> None:
    """Each wrong scenario of ``tests/errors``, in one process."""
    assert len(ERRORS) >= 10
    for number, file in enumerate(ERRORS):
        # An editor sends decoded text, so a wrong encoding cannot occur.
        text = file.read_bytes().decode("utf-8", errors="replace")
        if not all(f"\n{key}:" in f"\n{text}" for key in ("network", "streams")):
            continue
        path = tmp_path / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        said = json.loads(tsnbench("check", "--json", path).stdout)
        found = client.open(path.as_uri(), text)
        errors = [one for one in found if one["severity"] == 1]
        places = [(one["range"]["start"]["line"] + 1) for one in errors]
        assert places == [one["line"] for one in said["problems"]], file.name
        for one, problem in zip(errors, said["problems"], strict=True):
            assert f"expected {problem['expected']}, found {problem['found']}" in one["message"]
            assert problem["hint"] in one["message"]
        assert len(found) - len(errors) == len(said["warnings"]), file.name


def test_only_the_last_of_fast_changes_is_checked(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "fast.yaml").as_uri()
    client.open(uri, TEXT)
    for version in range(2, 12):
        client.change(uri, version, TEXT.replace("pcp: 5", f"pcp: {7 + version}"))
    client.change(uri, 12, TEXT)
    assert client.problems(uri, 12) == []


def test_one_text_is_checked_at_a_time(tmp_path: Path) -> None:
    """Threads would share one processor, and checks of old texts would delay the check of the last text."""
    begun, most, now = [], 0, 0

    def slow(text: str, file: str) -> tuple[Checked, list[Scenario]]:
        nonlocal most, now
        now += 1
        most = max(most, now)
        begun.append(text)
        time.sleep(0.2)
        now -= 1
        return checked_scenarios(text, file)

    with patch("tsnbench.editing.language_server.checked_scenarios", slow):
        asyncio.run(_type_fast(tmp_path))
    assert most == 1
    assert len(begun) <= 3


async def _type_fast(folder: Path) -> None:
    """Opens a text and changes it five times while it is checked."""
    made = language_server.server()
    told: list[types.PublishDiagnosticsParams] = []
    made.protocol._workspace = Workspace(folder.as_uri())
    uri = (folder / "two.yaml").as_uri()
    did_open = made.protocol.fm.features[types.TEXT_DOCUMENT_DID_OPEN]
    did_change = made.protocol.fm.features[types.TEXT_DOCUMENT_DID_CHANGE]
    with patch.object(made, "text_document_publish_diagnostics", told.append):
        document = types.TextDocumentItem(uri, "yaml", 1, TEXT)
        made.workspace.put_text_document(document)
        waiting = [asyncio.create_task(did_open(types.DidOpenTextDocumentParams(document)))]
        for version in range(2, 7):
            await asyncio.sleep(0.05)
            own = types.VersionedTextDocumentIdentifier(version, uri)
            made.workspace.update_text_document(own, types.TextDocumentContentChangeWholeDocument(TEXT))
            changed = types.DidChangeTextDocumentParams(own, [])
            waiting.append(asyncio.create_task(did_change(changed)))
        await asyncio.gather(*waiting)
    assert told[-1].version == 6


def test_a_check_that_fails_is_told_and_the_server_goes_on(tmp_path: Path) -> None:
    def wrong(text: str, file: str) -> tuple[Checked, list[Scenario]]:
        raise KeyError("nothing")

    told: list[types.PublishDiagnosticsParams] = []

    async def open_it() -> None:
        made = language_server.server()
        made.protocol._workspace = Workspace(tmp_path.as_uri())
        document = types.TextDocumentItem((tmp_path / "two.yaml").as_uri(), "yaml", 1, TEXT)
        made.workspace.put_text_document(document)
        with patch.object(made, "text_document_publish_diagnostics", told.append):
            await made.protocol.fm.features[types.TEXT_DOCUMENT_DID_OPEN](
                types.DidOpenTextDocumentParams(document)
            )

    with patch("tsnbench.editing.language_server.checked_scenarios", wrong):
        asyncio.run(open_it())
    (one,) = told[-1].diagnostics
    assert one.message == "tsnbench could not check this text: KeyError: 'nothing'"


def test_an_error_of_the_planner_has_its_place(client: Client, tmp_path: Path) -> None:
    """The text is well-formed; the planner finds that no frame can arrive so early."""
    uri = (tmp_path / "plan.yaml").as_uri()
    found = client.open(uri, TEXT.replace("500 us}", "500 us, requires: {delay: 1 ns}}", 1))
    (one,) = (one for one in found if one["severity"] == 1)
    assert one["message"].startswith("streams.cam.requires.delay: expected ")
    assert one["range"]["start"]["line"] == TEXT.split("\n").index("streams:") + 1


def test_names_and_keys_are_offered_and_explained(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "offer.yaml").as_uri()
    client.open(uri, TEXT)
    # The text is incomplete: the names are those of the last text that could be read.
    text, place = position(TEXT.replace("  log:\n", "  new: {from: |\n  log:\n"))
    client.change(uri, 2, text)
    client.problems(uri, 2)
    params = {"textDocument": {"uri": uri}, "position": place}
    offered = client.ask("textDocument/completion", params)
    assert {one["label"] for one in offered} >= {"one", "two", "sw"}
    text, place = position(TEXT.replace("payload", "pay|load"))
    client.change(uri, 3, text)
    client.problems(uri, 3)
    hover = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
    assert hover["contents"]["value"]
    labels = {one["label"]: one for one in client.ask(
        "textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    )}  # fmt: skip
    assert labels["network"]["insertText"] == "network: "


def test_columns_count_as_the_protocol_counts(client: Client, tmp_path: Path) -> None:
    """An emoji is one character and two UTF-16 code units."""
    uri = (tmp_path / "wide.yaml").as_uri()
    text = TEXT.replace("name: two", 'name: two\ntitle: "\N{STEAM LOCOMOTIVE}\N{STEAM LOCOMOTIVE}"')
    wide = '  "\N{STEAM LOCOMOTIVE}": {from: one, to: tow, pcp: 5, frame: 100 B, period: 1 ms}\n'
    (*_, found) = client.open(uri, text.replace("streams:\n", f"streams:\n{wide}"))
    line = text.replace("streams:\n", f"streams:\n{wide}").split("\n")[found["range"]["start"]["line"]]
    units = line.encode("utf-16-le")
    start, end = (2 * found["range"][one]["character"] for one in ("start", "end"))
    assert units[start:end].decode("utf-16-le") in line


def test_other_yaml_files_are_left_alone(client: Client, tmp_path: Path) -> None:
    assert client.open((tmp_path / "compose.yaml").as_uri(), "services: {web: {image: x}}\n") == []


def test_garbage_leaves_the_server_alive(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "garbage.yaml").as_uri()
    client.open(uri, TEXT)
    pieces = ["{" * 30, "\t", "network: [", "&a *a", "\u0000", "a: " * 50, "'", "${", "- - - x"]
    for version, piece in enumerate(pieces, 2):
        text = f"network:\nstreams:\n{piece}\n"
        client.change(uri, version, text)
        assert client.problems(uri, version)
        params = {"textDocument": {"uri": uri}, "position": {"line": 2, "character": len(piece)}}
        client.ask("textDocument/completion", params)
        client.ask("textDocument/hover", params)


def test_it_ends_as_it_should(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        assert client.capabilities["hoverProvider"]
        assert client.end() == 0

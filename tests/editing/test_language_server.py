"""The language server as an editor meets it: a process, and messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from editing.client import Client
from editing.test_completion import TEXT, at

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
    assert (found["severity"], found["source"]) == (1, "tsnbench")
    assert found["message"].startswith("streams.cam.to: expected ")
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = client.ask("textDocument/codeAction", params)
    assert action["title"] == "Write two"
    assert action["edit"]["changes"][uri] == [{"range": found["range"], "newText": "two"}]


def test_problems_are_those_of_check(client: Client, tmp_path: Path) -> None:
    """Each wrong scenario of the collection, in one process."""
    assert len(ERRORS) >= 10
    for number, file in enumerate(ERRORS):
        # An editor sends text, so there is no wrong encoding.
        text = file.read_bytes().decode("utf-8", errors="replace")
        if not all(f"\n{key}:" in f"\n{text}" for key in ("network", "streams")):
            continue
        path = tmp_path / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "tsnbench", "check", "--json", str(path)]
        said = json.loads(subprocess.run(command, capture_output=True, check=False, text=True).stdout)
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


def test_names_and_keys_are_offered_and_explained(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "offer.yaml").as_uri()
    client.open(uri, TEXT)
    # Half written: the names are those of the last text that could be read.
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
    """An emoji is one character and two UTF-16 units."""
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

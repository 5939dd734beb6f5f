"""The guide of the CNC: its requests and commands do what the page says."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

from cnc.cell import Served, serving
from support.commands import tsnbench

PAGE = (Path(__file__).resolve().parents[2] / "docs/guides/cnc.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8080"


def curl(served: Served, line: str) -> tuple[int, str]:
    """The status and the text of the request that a command of curl sends."""
    words = shlex.split(line)
    given = {words[n]: words[n + 1] for n in range(len(words) - 1) if words[n] in ("-X", "-H", "-d")}
    (url,) = (word for word in words if word.startswith(ADDRESS))
    name, value = given["-H"].split(": ")
    assert name == "content-type"
    path = url.removeprefix(ADDRESS)
    status, told, _ = served.ask(given["-X"], path, body=given["-d"].encode(), content_type=value)
    return status, str(told)


def test_the_page_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall(PAGE)
    (scenario,) = (text for kind, text in blocks if kind == "yaml")
    lines = [line for kind, text in blocks if kind == "sh" for line in text.replace("\\\n", " ").split("\n")]
    joined = re.split(r"\n(?=curl|export|echo|tsnbench)", "\n".join(lines).strip())
    answers: list[tuple[int, str]] = []
    with serving(tmp_path, text=scenario) as served:
        for line in joined:
            if line.startswith("curl"):
                answers.append(curl(served, line))
            elif line.startswith("export"):
                monkeypatch.setenv("TSNBENCH_CNC", served.address)
            elif line.startswith("echo"):
                text, command = line.removeprefix("echo ").split(" | ")
                monkeypatch.setattr("sys.stdin", io.StringIO(shlex.split(text)[0]))
                done = tsnbench(*shlex.split(command)[1:])
                assert (done.returncode, done.stderr) == (0, "")
            elif not line.startswith("tsnbench cnc cell.yaml"):
                done = tsnbench(*shlex.split(line)[1:])
                assert (done.returncode, done.stderr) == (0, "")
    assert [status for status, _ in answers] == [201, 409]
    for number in re.findall(r"`there is a schedule with\s+([^`]+)`", PAGE):
        assert " ".join(number.split()) in answers[1][1]
    assert "338.56 us" in answers[1][1]

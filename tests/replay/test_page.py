"""The page in a real browser: it runs under its own content policy, and shows the output of the command."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from replay.test_what_varies import CLOCK
from replay.test_why_frames_waited import replayed
from support.browser import browsing, needs_chromium, started
from support.commands import tsnbench
from tsnbench.backends.simulation import Simulation
from tsnbench.errors import BackendError
from tsnbench.replay.page import page
from tsnbench.scenario import load_variants

GATES = Path(__file__).parents[2] / "scenarios" / "tutorial" / "2-gates.yaml"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay") / "run"
    priority = next(one for one in load_variants(GATES) if "priority" in one.variant.values())
    priority.plan().run(Simulation(), folder)
    return folder


def replay(*words: object) -> tuple[int, str]:
    result = tsnbench("replay", *words)
    return result.returncode, result.stdout + result.stderr


def dom(page: Path, profile: Path) -> str:
    """What a browser makes of a page that says nothing in its console, and is ready."""
    shown = started(page.as_uri(), profile, "--virtual-time-budget=2000", "--dump-dom")
    assert "CONSOLE" not in shown.stderr
    assert 'data-ready="yes"' in shown.stdout
    return shown.stdout


@needs_chromium
def test_a_browser_shows_what_the_clock_of_a_node_showed(tmp_path: Path) -> None:
    run, _, _ = replayed(CLOCK, tmp_path)
    code, text = replay(run.folder, "--output", tmp_path / "page.html", "--frame", "fast/0")
    assert code == 0, text
    why = re.search(r'<div id="why".*?</div>', dom(tmp_path / "page.html", tmp_path / "profile"), re.S)
    assert why is not None
    assert '<th class="n">its clock</th>' in why[0]
    # The gate opens at 499.95 us, when the clock shows 500 us.
    assert re.search('499\u202f950 ns</td><td class="n">500\u202f000 ns</td>', why[0])
    assert "difference of two clocks: 409\u202f384 ns." in why[0]


@needs_chromium
def test_a_browser_shows_the_frame_that_waited(run: Path, tmp_path: Path) -> None:
    code, text = replay(run, "--output", tmp_path / "page.html")
    assert code == 0, text
    shown = dom(tmp_path / "page.html", tmp_path / "profile")
    # The loop has a greatest delay, so its slowest frame is shown first.
    why = re.search(r'<div id="why".*?</div>', shown, re.S)
    assert why is not None
    printed = text[text.index("loop/") :].split("\n\n")[0]
    assert "other frames: files" in why[0]
    assert "other frames: files" in printed
    cells = re.findall(r"<td[^>]*>(.*?)</td>", why[0].split("</thead>")[1])
    lengths = [int(re.sub(r"\D", "", cell)) for cell in cells[2::4]]
    total = re.search(r"robot: ([\d\u202f]+) ns", why[0])
    assert total is not None
    assert sum(lengths) == int(re.sub(r"\D", "", total[1])) > 10_000


def test_names_of_a_scenario_cannot_end_the_script() -> None:
    text = page({"name": "</script><b>", "x": "</script><img src=x>"})
    assert "</script><b>" not in text
    assert "<img" not in text


def test_a_file_of_somebody_else_stays(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>")
    code, text = replay(run, "--output", mine)
    assert (code, mine.read_text()) == (2, "<p>mine</p>")
    assert "tsnbench has not written" in text


@pytest.mark.parametrize(
    ("break_it", "found"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:900]), "expected a Parquet file"),
        (lambda file: file.unlink(), "has no observations.parquet"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "found a FIFO"),
    ],
    ids=["damaged", "missing", "a FIFO"],
)
def test_a_run_that_is_not_whole_is_refused(
    run: Path, tmp_path: Path, break_it: Callable[[Path], object], found: str
) -> None:
    shutil.copytree(run, tmp_path / "broken")
    break_it(tmp_path / "broken" / "observations.parquet")
    code, text = replay(tmp_path / "broken")
    assert (code, found in text) == (2, True), text


def test_a_disk_that_is_too_small_is_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise BackendError("/tmp/x: this run writes about 3 GB\nhint: --into names a folder on another disk")

    monkeypatch.setattr("tsnbench.runs.room.refuse_too_large", refuse)
    code, text = replay(run)
    assert (code, text.splitlines()[-2]) == (3, "hint: replay simulates below TMPDIR: name a larger disk")


def test_a_page_that_does_not_fit_leaves_nothing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Path.write_bytes

    def full(self: Path, content: bytes) -> int:
        written(self, content[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    code, text = replay(run, "--output", tmp_path / "page.html")
    assert (code, "No space left on device" in text) == (3, True)
    assert list(tmp_path.iterdir()) == []


def test_many_streams_fold(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    streams = "\n".join(f"  s{n}: {{from: a, to: b, pcp: 0, period: 1 ms, payload: 50 B}}" for n in range(7))
    network = "{bridges: [x], stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- x, x -- b]}}"
    file.write_text(f"name: many\nduration: 2 ms\nnetwork: {network}\nstreams:\n{streams}\n")
    load_variants(file)[0].plan().run(Simulation(), tmp_path / "run")
    _, text = replay(tmp_path / "run")
    assert text.count(" to b: ") == 5
    assert text.endswith("… and 2 more, farther from their greatest delay: --all, or --frame STREAM/SEQ\n")
    # The seventh stream is handed over at the same time and waits for six frames, so it is the slowest.
    assert text.index("s6/") < text.index("s5/")
    assert replay(tmp_path / "run", "--all")[1].count(" to b: ") == 7
    assert len(json.loads(replay(tmp_path / "run", "--json")[1])["frames"]) == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--from", "1 ms", "--frame", "loop/0"),
            "--frame names one frame, --from and --to the slowest ones of a window: write one",
        ),
        (("--from", "2 ms", "--to", "1 ms"), "--to: expected a time after 2 ms, found 1 ms"),
        (("--from", "10 s"), "RUN: no frame arrived at its listener in this window"),
        (
            ("--output", "PAGE", "--from", "2 ms", "--to", "1 ms"),
            "--to: expected a time after 2 ms, found 1 ms",
        ),
        (
            ("--frame", "loop"),
            "--frame: expected a stream and a sequence number such as loop/0, found loop",
        ),
        (("--output", "PAGE", "--from", "10 s", "--to", "11 s"), "no frame is in the network in this window"),
    ],
)
def test_mistakes_are_told(words: tuple[str, ...], said: str, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    code, text = replay(run, *(page if word == "PAGE" else word for word in words))
    assert (code, text.splitlines()[0]) == (2, said.replace("RUN", str(run)))
    assert not page.exists()


def test_json_has_the_parts(run: Path) -> None:
    code, text = replay(run, "--json")
    assert code == 0
    first, second = json.loads(text)["frames"]
    assert (first["stream"], second["stream"]) == ("loop", "files")
    for one in (first, second):
        parts = [part for hop in one["hops"] for part in hop["parts"]]
        assert sum(part["length_ns"] for part in parts) == one["total_ns"]


def test_a_window_has_its_own_slowest_frames(run: Path) -> None:
    code, text = replay(run, "--json")
    (whole, *_) = json.loads(text)["frames"]
    begin = whole["hops"][0]["came_ns"]
    code, text = replay(run, "--json", "--from", f"{begin} ns", "--to", f"{begin + 1} ns")
    assert (code, json.loads(text)["frames"][0]) == (0, whole)
    code, text = replay(run, "--json", "--to", f"{begin} ns")
    before = next(one for one in json.loads(text)["frames"] if one["stream"] == whole["stream"])
    assert before["seq"] < whole["seq"]
    assert before["total_ns"] <= whole["total_ns"]
    assert before["hops"][0]["came_ns"] < begin


LESSON = """\
# Why the loop waits

See [the slowest frame](#t=12.5ms) and [a page](https://example.org/). [A file](other.md), ![picture](x.png).

| port | class |
|------|-------|
| a    | 1     |

<script>document.body.dataset.bad = "yes"</script>
"""


def test_a_lesson_stands_beside_the_replay_and_its_links_go_to_instants(run: Path, tmp_path: Path) -> None:
    text, made = tmp_path / "lesson.md", tmp_path / "page.html"
    text.write_text(LESSON)
    code, said = replay(run, "--output", made, "--lesson", text)
    assert code == 0, said
    with browsing() as browser:
        tab = browser.new_page()
        messages: list[str] = []
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.goto(made.as_uri())
        expect(tab.locator("body")).to_have_attribute("data-ready", "yes")
        expect(tab.locator("#lesson h1")).to_have_text("Why the loop waits")
        expect(tab.locator("#lesson td")).to_have_count(2)
        # What is written as HTML stays text, pictures are their words, links to files are no links.
        assert tab.locator("body").get_attribute("data-bad") is None
        assert tab.locator("#lesson script, #lesson img").count() == 0
        assert tab.locator("#lesson a[href]").all_inner_texts() == ["the slowest frame", "a page"]
        tab.get_by_role("link", name="the slowest frame").click()
        begin = json.loads(re.search(r'"begin_ns":(\d+)', made.read_text())[1])  # type: ignore[index]
        expect(tab.locator("body")).to_have_attribute("data-now", str(12_500_000 - begin))
    assert messages == []


def test_a_lesson_needs_a_page_and_a_file(run: Path, tmp_path: Path) -> None:
    code, said = replay(run, "--lesson", tmp_path / "none.md")
    assert (code, "add --output FILE" in said) == (2, True)
    code, said = replay(run, "--output", tmp_path / "page.html", "--lesson", tmp_path / "none.md")
    assert (code, "none.md" in said) == (2, True)
    assert not (tmp_path / "page.html").exists()

"""The guide's measurement of a kernel: secret times of a simulated one come back, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from support.commands import tsnbench
from support.planned import plan_of, run_of
from tsnbench.backends.vm import unavailable
from tsnbench.calibration import kernel
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.kernel import Software, lines_of, software
from tsnbench.calibration.prediction import drawn
from tsnbench.runs import Run

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/guest.md").read_text(encoding="utf-8")
MEASURED = next(part for part in GUIDE.split("```yaml\n") if part.startswith("name: kernel")).split("```")[0]
MEASURED_ONCE = re.sub(r"(?m)^parameters: .*\n", "", MEASURED).replace("${size}", "1230 B")
SECRET = """
hosts:
  default: {send: 300 ns, prepare: 200 ns, turn: 500 ns, finish: 90 ns, qdisc: 180 ns, driver: 50 ns,
    kernel-rx: HOP, timer: {from: 70 ns, to: 130 ns}, processor: guest}
"""
QDISC, DRIVER = 180, 50
DRAWN = re.sub(r"(?m)^  bridges: .*\n", "", MEASURED_ONCE).replace(
    "stations: [", "hosts: [sw1, sw2, "
).replace("duration: 200 ms", "duration: 10 ms") + SECRET.replace("HOP", "{from: 400 ns, to: 900 ns}")


def simulated(
    folder: Path,
    hop: str = "470 ns",
    qdisc: str = "cbs: software",
    secret: str = SECRET,
    size: str = "1230 B",
    measured: str = MEASURED,
) -> Run:
    """The guide's scenario with frames of one size, on hosts with these times."""
    text = re.sub(r"(?m)^parameters: .*\n", "", measured).replace("${size}", size)
    text = text.replace("stations: [", "hosts: [sw1, sw2, ")
    text = re.sub(r"(?m)^  bridges: .*\n", "", text)
    text = re.sub(r"cbs: {(\d): (\d+) Mbit/s}", rf"cbs: {{\1: \2 Mbit/s}}, qdisc: {{{qdisc}}}", text)
    return run_of(plan_of(text + secret.replace("HOP", hop)), folder)


@pytest.mark.parametrize("overhead", [0, 24])
def test_secret_times_come_back(tmp_path: Path, overhead: int) -> None:
    qdisc = f"cbs: software, overhead: {overhead} B"
    found = software([simulated(tmp_path, "{values: [420 ns, 490 ns], counts: [1, 1]}", qdisc)])
    assert set(found.first) == {300 + QDISC + DRIVER}
    # Until the next one is ready; the bit leaves a driver later.
    assert {round(one) for one in found.prepare} == {200 - DRIVER}
    assert {round(one) for one in found.leaves} == {DRIVER + 90}
    assert set(found.turn) == {500}
    # Some others met a timer of the shaper in front of the frames that wait.
    alone = {420 + QDISC + DRIVER, 490 + QDISC + DRIVER}
    assert min(found.hop) == min(alone)
    assert sum(one in alone for one in found.hop) > 0.9 * len(found.hop)
    assert found.overhead == {overhead}
    low, high = found.timer
    # A frame ends 96 ns before `cbs` with all its octets says so, and begins a driver later. So the interrupt
    # of the first timer of a pair has then begun, which the mean of two shows as half.
    begun = (96 - DRIVER) / 2 if overhead else 0
    # Of 25 pairs, the mean of one timer is known to 3 standard errors of 7.5 ns.
    assert abs((low + high) / 2 - (100 - begun)) < 7.5
    assert 30 < high - low < 90


def test_what_is_written_is_read_and_does_the_same(tmp_path: Path) -> None:
    first = software([simulated(tmp_path / "1", qdisc="cbs: software, overhead: 24 B")])
    lines = "\n".join(lines_of(first))
    own = lines.partition("shapers:")[0]
    again = software([simulated(tmp_path / "2", qdisc="cbs: software, overhead: 24 B", secret=f"\n{own}\n")])
    for key in ("first", "prepare", "leaves", "turn", "hop"):
        one, other = (median(getattr(found, key)) for found in (first, again))
        assert abs(one - other) <= 2, key


def test_differences_are_those_of_one_run(tmp_path: Path) -> None:
    """Longer frames that take longer are no time of finish, prepare or turn."""
    slow = SECRET.replace("send: 300 ns", "send: 450 ns")
    runs = [simulated(tmp_path / "1"), simulated(tmp_path / "2", secret=slow, size="1500 B")]
    found = software(runs)
    assert set(found.first) == {300 + QDISC + DRIVER, 450 + QDISC + DRIVER}
    assert {round(one) for one in found.prepare} == {200 - DRIVER}
    assert {round(one) for one in found.leaves} == {DRIVER + 90}
    assert set(found.turn) == {500}


def test_what_no_frame_shows_is_not_written(tmp_path: Path) -> None:
    lines = "\n".join(lines_of(software([simulated(tmp_path, qdisc="cbs: full-offload")])))
    assert "# timer: not known: found 0 of 20 pairs" in lines
    assert "\nshapers:" not in lines


def test_pairs_that_met_other_work_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = kernel._pairs

    def disturbed(*given: Any) -> Iterator[tuple[int, list[float]]]:
        for overhead, late in own(*given):
            yield overhead, [*late[:-2], late[-2] + 900, late[-1] + 400]

    run = simulated(tmp_path)
    alone = software([run])
    monkeypatch.setattr(kernel, "_pairs", disturbed)
    found = software([run])
    assert len(found.late) == len(alone.late) - 2
    assert all(abs(one - other) < 15 for one, other in zip(found.timer, alone.timer, strict=True))


def test_one_timer_has_the_half_of_two() -> None:
    """Two that are uniform in 40 to 160 ns have a mean of 200 ns and a variance of 2 x 120^2 / 12."""
    width = (2 * 120**2 / 12) ** 0.5
    low, high = Software(late=[200 - width, 200 + width]).timer
    assert (round(low), round(high)) == (40, 160)


def test_without_groups_what_they_show_is_not_written(tmp_path: Path) -> None:
    text = "\n".join(line for line in MEASURED.splitlines() if not line.startswith("  waits:"))
    lines = "\n".join(lines_of(software([simulated(tmp_path, measured=text)])))
    assert "# prepare: not known: found 0 of 5 such groups" in lines
    assert "# finish: not known: found 0 of 5 such groups" in lines
    assert "    turn: 500 ns" in lines


def test_a_run_of_a_guest_that_shows_nothing_is_refused() -> None:
    """Its frames wait for gates."""
    with pytest.raises(CalibrationError, match="groups of frames of one node that are due together"):
        software([Run.open(ROOT / "docs/notebooks/kernel-run")])


def test_talkers_with_processors_of_their_own_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="on one processor"):
        software([run_of(plan_of(MEASURED_ONCE), tmp_path)])


def test_the_command_writes_the_keys(tmp_path: Path) -> None:
    folder = simulated(tmp_path, qdisc="cbs: software, overhead: 24 B").folder
    both = tsnbench("calibrate", str(folder), "--kernel", "--for", "sw1", "--into", "own.yaml", cwd=tmp_path)
    assert both.returncode == 2
    assert "--for NODE and --kernel" in both.stderr
    more = tsnbench(
        "calibrate", str(folder), "--kernel", "--clocks", "1us", "--into", "own.yaml", cwd=tmp_path
    )
    assert more.returncode == 2
    assert "expected --kernel with runs alone, found --clocks" in more.stderr
    done = tsnbench("calibrate", str(folder), "--kernel", "--into", "own.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "own.yaml").read_text(encoding="utf-8")
    assert written.startswith("# Written by tsnbench ")
    assert written.endswith(done.stdout)
    assert "  all: {qdisc: {cbs: software, overhead: 24 B}}" in written
    assert tsnbench("calibrate", str(folder), "--kernel", "--into", "own.yaml", cwd=tmp_path).returncode == 2


@pytest.mark.nightly
@pytest.mark.skipif(unavailable() is not None, reason=f"no guests here: {unavailable()}")
def test_a_guest_shows_its_kernel(tmp_path: Path) -> None:
    """Ten times slower: a frame takes some 7 us of the guest's time, a timer is about 1 us late."""
    (tmp_path / "kernel.yaml").write_text(MEASURED, encoding="utf-8")
    words = "run kernel.yaml --on vm --dilate 10 --into measured --no-report"
    assert tsnbench(*words.split(), cwd=tmp_path).returncode in (0, 1)
    found = software([Run.open(one) for one in sorted((tmp_path / "measured").glob("size=*"))])
    assert not found.reasons
    assert found.overhead == {24}
    for samples, low, high in (
        (found.first, 300, 900),
        (found.prepare, 50, 500),
        (found.leaves, 20, 500),
        (found.turn, 200, 1_200),
        (found.hop, 400, 1_200),
    ):
        assert low < sorted(samples)[len(samples) // 2] < high
    assert 20 < sum(found.timer) / 2 < 400


def test_a_draw_has_one_time_for_each_host_and_key() -> None:
    document = plan_of(DRAWN).document
    times = []
    for number in range(3):
        nodes = drawn(document, {}, number).document["nodes"]
        own = [node["host"]["kernel_rx"] for node in nodes]
        assert {one["kind"] for one in own} == {"constant"}
        assert all(400 <= one["ns"] <= 900 for one in own)
        assert all(node["host"]["send"] == {"kind": "constant", "ns": 300} for node in nodes)
        times.append(tuple(one["ns"] for one in own))
    assert len(set(times)) == 3
    assert all(len(set(one)) > 1 for one in times)
    assert drawn(document, {}, 1).hash == drawn(document, {}, 1).hash


def test_run_predict_draws_the_times_of_a_kernel(tmp_path: Path) -> None:
    """The least delay of a frame that meets nobody is between the hops of all draws."""
    (tmp_path / "own.yaml").write_text(DRAWN, encoding="utf-8")
    done = tsnbench("run", "own.yaml", "--predict", "--no-report", "--into", "r", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    predicted = json.loads((tmp_path / "r/prediction.json").read_text(encoding="utf-8"))
    assert predicted["draws"] == 39
    (hops,) = (one for one in predicted["paths"] if one["stream"] == "hops")
    low, high = hops["quantities"]["min"]
    # Three links with 100 + 8 octets, from the stamp of the first behind its preamble; a tick to both sides.
    alone = 3 * 108 * 8 - 64 + 2 * (QDISC + DRIVER)
    assert alone + 2 * 400 - 1 <= low < high <= alone + 2 * 900 + 1

"""The guide's measurement of a kernel: secret times of a simulated one come back, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.planned import plan_of, run_of
from tsnbench.backends.vm import unavailable
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.kernel import Software, lines_of, software
from tsnbench.runs import Run

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/guest.md").read_text(encoding="utf-8")
MEASURED = next(part for part in GUIDE.split("```yaml\n") if part.startswith("name: kernel")).split("```")[0]
SECRET = """
hosts:
  default: {send: 780 ns, kernel-rx: HOP, timer: {from: 40 ns, to: 160 ns}, processor: guest}
"""


def simulated(folder: Path, hop: str = "700 ns", qdisc: str = "cbs: software", secret: str = SECRET) -> Run:
    """The guide's scenario on hosts with these times."""
    text = MEASURED.replace("stations: [", "hosts: [sw1, sw2, ")
    text = re.sub(r"(?m)^  bridges: .*\n", "", text)
    text = text.replace("{cbs: {6: 1 Mbit/s}}", f"{{cbs: {{6: 1 Mbit/s}}, qdisc: {{{qdisc}}}}}")
    return run_of(plan_of(text + secret.replace("HOP", hop)), folder)


@pytest.mark.parametrize("overhead", [0, 24])
def test_secret_times_come_back(tmp_path: Path, overhead: int) -> None:
    qdisc = f"cbs: software, overhead: {overhead} B"
    found = software([simulated(tmp_path, "{values: [650 ns, 720 ns], counts: [1, 1]}", qdisc)])
    assert set(found.send) == set(found.turns) == {780.0}
    assert set(found.hop) == {650.0, 720.0}
    assert found.overhead == {overhead}
    low, high = found.timer
    # Of 25 pairs, the mean of one timer is known to 3 standard errors of 15 ns.
    assert abs((low + high) / 2 - 100) < 15
    assert 60 < high - low < 180


def test_what_is_written_is_read_and_does_the_same(tmp_path: Path) -> None:
    first = simulated(tmp_path / "1", qdisc="cbs: software, overhead: 24 B")
    lines = "\n".join(lines_of(software([first])))
    assert "send: 780 ns" in lines
    assert "kernel-rx: 700 ns" in lines
    own = lines.partition("shapers:")[0]
    again = simulated(tmp_path / "2", qdisc="cbs: software, overhead: 24 B", secret=f"\n{own}\n")
    found = software([again])
    assert (set(found.send), set(found.hop)) == ({780.0}, {700.0})


def test_what_no_frame_shows_is_not_written(tmp_path: Path) -> None:
    lines = "\n".join(lines_of(software([simulated(tmp_path, qdisc="cbs: full-offload")])))
    assert "send: 780 ns" in lines
    assert "# timer: not known: found 0 of 20 pairs" in lines
    assert "\nshapers:" not in lines


def test_one_timer_has_the_half_of_two() -> None:
    """Two that are uniform in 40 to 160 ns have a mean of 200 ns and a variance of 2 x 120^2 / 12."""
    width = (2 * 120**2 / 12) ** 0.5
    low, high = Software(late=[200 - width, 200 + width]).timer
    assert (round(low), round(high)) == (40, 160)


def test_a_run_of_a_guest_that_shows_nothing_is_refused() -> None:
    """Its frames wait for gates."""
    with pytest.raises(CalibrationError, match="frames of one node that are due together"):
        software([Run.open(ROOT / "docs/notebooks/kernel-run")])


def test_talkers_with_processors_of_their_own_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="on one processor"):
        software([run_of(plan_of(MEASURED), tmp_path)])


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
    found = software([Run.open(tmp_path / "measured")])
    assert not found.reasons
    assert found.overhead == {24}
    assert 400 < sorted(found.send)[len(found.send) // 2] < 1_200
    assert 400 < sorted(found.hop)[len(found.hop) // 2] < 1_200
    assert 20 < sum(found.timer) / 2 < 400

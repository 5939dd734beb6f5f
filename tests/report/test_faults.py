"""Faults in a report: a table with their effects, and shading behind the delays."""

from __future__ import annotations

from pathlib import Path

from tsnbench import report
from tsnbench.report.data import gather
from tsnbench.report.page import drawings
from tsnbench.report.parts.faults import losses

from .conftest import made

TEXT = """
name: faults
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: [b1, b2]
  stations: [t, l]
  links: [t -- b1, b1 -- b2, b2 -- l]
streams: {s: {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B}}
"""
FAULTS = """faults:
  - {down: b2, at: 2 ms, for: 1 ms}
  - {delay: {from: 10 us, to: 30 us}, on: t -> b1, at: 5 ms, for: 2 ms}
  - {loss: 100 %, on: b1 -> b2, at: 10 ms, for: 1 ms}
  - {schedule: open, on: b2 -> l, at: 12 ms, for: 1 ms}
"""


def test_faults_are_in_the_table_and_in_the_figures(tmp_path: Path) -> None:
    folder = made(tmp_path, TEXT + FAULTS)
    run = gather(folder)
    assert [(fault.what.replace("\u202f", " "), fault.where, fault.frames) for fault in run.faults] == [
        ("node down", "b2", 10),
        ("delay of 10 µs to 30 µs", "t -> b1", 20),
        ("loss by chance", "b1 -> b2", 10),
        ("wrong schedule", "b2 -> l", 10),
    ]
    (lost,) = losses(run)
    assert sum(lost.lost) == 20
    assert {t // 1_000_000 for t, n in zip(lost.t, lost.lost, strict=True) if n} <= {1, 2, 9, 10}
    found = {drawing.name: drawing for drawing in drawings(run)}
    assert "Shaded: while a fault lasted" in found["delay-over-time"].caption
    assert "node down: b2: from 2 ms for 1 ms, 10 frames" in found["faults"].spoken.replace("\u202f", " ")
    page = Path(report.write(folder)).read_text(encoding="utf-8")
    for words in ("wrong schedule", "node down", "Faults over time"):
        assert words in page


def test_the_shading_is_where_the_fault_is(tmp_path: Path) -> None:
    from tsnbench.report.figures.style import COLUMN

    run = gather(made(tmp_path, TEXT + FAULTS))
    figure = next(drawing for drawing in drawings(run) if drawing.name == "delay-over-time").draw(COLUMN)
    spans = [
        patch.get_extents().transformed(figure.axes[0].transData.inverted())
        for patch in figure.axes[0].patches
    ]
    assert [(round(box.x0, 6), round(box.x1, 6)) for box in spans] == [(2, 3), (5, 7), (10, 11), (12, 13)]


def test_a_run_without_faults_shows_none(tmp_path: Path) -> None:
    folder = made(tmp_path, TEXT)
    assert all(drawing.name != "faults" for drawing in drawings(gather(folder)))
    assert 'id="faults"' not in Path(report.write(folder)).read_text(encoding="utf-8")

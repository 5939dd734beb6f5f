"""The counters of filters, schedulers and cyclic queues are in the report."""

from __future__ import annotations

from pathlib import Path

from tsnbench import report
from tsnbench.report.data import gather
from tsnbench.report.formatting import count
from tsnbench.report.parts.ingress import MOST_ROWS, ingress_rows, left_out

from .conftest import made

NETWORK = """
name: ingress
duration: 10 ms
network:
  rate: 1 Gbit/s
  bridges: [b1, b2]
  stations: [t, l]
  links: [t -- b1, b1 -- b2, b2 -- l]
streams: {s: {from: t, to: l, pcp: 6, period: 100 us, units: {sizes: [20 kB], most-per-frame: 1000 B}}}
"""
METERED = "policing: [{at: t -> b1, meter: {cir: 10 Mbit/s, cbs: 5 kB}}]\n"
SHAPED = "shapers: {b2 -> l: {ats: {pcp: [6], rate: 100 Mbit/s, burst: 25 kB, residence: 1 ms}}}\n"
CYCLIC = "shapers: {b1 -> b2: {cqf: {cycle: 100 us, pcp: [6], classes: [7, 6]}}}\n"


def _number(text: str) -> int:
    return int("".join(letter for letter in text if letter.isdigit()))


def test_meters_and_schedulers_are_in_a_table(tmp_path: Path) -> None:
    run = made(tmp_path, NETWORK + METERED + SHAPED.replace("100 Mbit/s", "8 Mbit/s"))
    rows = ingress_rows(gather(run).counters)
    metered = next(row for row in rows if row.where == "b1")
    assert metered.what.startswith("filter ")
    assert metered.frames == count(2_000)
    assert _number(metered.red) > 1_900
    assert any(row.what.startswith("scheduler group") for row in rows)
    page = Path(report.write(run)).read_text(encoding="utf-8")
    assert "Filters and shapers at ingress" in page
    assert f'<td>{metered.what}</td><td class="n">{count(2_000)}</td>' in page
    assert "a filter or a scheduler" in page


def test_frames_that_miss_their_cycle_are_counted_and_named(tmp_path: Path) -> None:
    """Only 11 of 20 frames of 8.5 us fit into 100 us, so the queues grow from cycle to cycle."""
    crowded = made(tmp_path, NETWORK + CYCLIC)
    rows = [row for row in ingress_rows(gather(crowded).counters) if "cyclic" in row.what]
    assert {row.where for row in rows} == {"b1 -> b2"}
    assert sum(_number(row.late) for row in rows) > 500
    page = Path(report.write(crowded)).read_text(encoding="utf-8")
    assert "left after their own cycle" in page
    fits = tmp_path / "fits"
    fits.mkdir()
    found = gather(made(fits, NETWORK.replace("20 kB", "8 kB") + CYCLIC)).counters
    assert found is not None
    assert not any(own.late for port in found.ports for own in port.classes)


def test_without_filters_there_is_no_table(tmp_path: Path) -> None:
    run = made(tmp_path, NETWORK)
    assert "Filters and shapers" not in Path(report.write(run)).read_text(encoding="utf-8")
    assert left_out(gather(run).counters) == 0 < MOST_ROWS

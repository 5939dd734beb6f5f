"""Figures as files for papers: by name, as pgf without LaTeX, and their numbers as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from support.commands import tsnbench
from tsnbench import report
from tsnbench.errors import InputError
from tsnbench.report.data import gather
from tsnbench.report.figures.style import COLUMN, Drawing, Size, bytes_of
from tsnbench.report.page import drawings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def table(text: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.decode())))


def drawn(make: Callable[[Size], Figure]) -> bytes:
    return bytes_of(Drawing("one", "One", "", "", make, lambda: ()), COLUMN, "pgf")


def test_every_figure_has_its_numbers_and_a_picture_without_latex(
    in_vehicle: Path, star: Path, hops: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    figures = tmp_path / "figures"
    for runs in (in_vehicle, star, hops):
        report.write(runs, into=tmp_path, figures=("pgf", "csv"))
    tables = {path.stem: table(path.read_bytes()) for path in figures.glob("*.csv")}
    assert set(tables) >= {"ccdf", "boxes", "gates", "topology", "port-loads", "delay-along-axis"}
    assert {path.stem for path in figures.glob("*.pgf")} == set(tables)
    for name, rows in tables.items():
        assert rows, name
        picture = (figures / f"{name}.pgf").read_text(encoding="utf-8")
        assert picture.count(r"\begin{pgfscope}") == picture.count(r"\end{pgfscope}") > 10
        assert "includegraphics" not in picture
    assert not list(figures.glob("*.png"))


def test_the_numbers_of_the_boxes_are_those_of_the_frames(in_vehicle: Path) -> None:
    facts = gather(in_vehicle)
    assert facts.frames is not None
    (boxes,) = (one for one in drawings(facts) if one.name == "boxes")
    rows = table(bytes_of(boxes, COLUMN, "csv"))
    frames = pl.read_parquet(facts.frames)
    groups = {group.label: group for group in facts.groups}
    for row in rows:
        own = frames.filter(pl.col("path").is_in(list(groups[row["stream"]].paths)))
        delays = own["delay_ns"].drop_nulls().sort().to_list()
        assert int(row["frames"]) == len(delays)
        assert float(row["min_us"]) == delays[0] / 1e3
        assert float(row["median_us"]) == delays[(len(delays) + 1) // 2 - 1] / 1e3
        assert float(row["max_us"]) == delays[-1] / 1e3
    assert len(rows) > 3
    assert any(len({value for name, value in row.items() if name.endswith("_us")}) == 7 for row in rows)


def test_a_name_is_never_a_command_to_latex() -> None:
    def draw(size: Size) -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(size.width, 1))
        figure.subplots().set_title(r"\input{x} 50 % a_b #1 $y$ & ~ ^")
        return figure

    picture = drawn(draw).decode()
    assert (
        r"\textbackslash{}input\{x\} 50 \% a\_b \#1 \$y\$ \& \textasciitilde{} \textasciicircum{}" in picture
    )
    assert r"\input{x}" not in picture


def test_fields_of_colour_are_no_second_file() -> None:
    def draw(size: Size) -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(size.width, 1))
        at = figure.subplots()
        figure.colorbar(at.imshow([[1.0, 2.0, 3.0], [4.0, 5.0, float("nan")]]), ax=at)
        return figure

    picture = drawn(draw).decode()
    assert "includegraphics" not in picture
    # Five fields with a value, and those of the colour bar.
    fills = re.findall(r"\\definecolor\{currentfill\}\{rgb\}\{(.*?)\}", picture)
    assert len(set(fills)) > 100


def test_one_figure_by_its_name(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    (folder / "report.html").unlink(missing_ok=True)
    done = tsnbench(
        "report", folder, "--figure", "boxes", "--figure", "ccdf", "--figures", "pgf,csv", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    wanted = [folder / "figures" / name for name in ("boxes.pgf", "boxes.csv", "ccdf.pgf", "ccdf.csv")]
    assert done.stdout.split() == [str(path) for path in wanted]
    assert sorted((folder / "figures").iterdir()) == sorted(wanted)
    assert not (folder / "report.html").exists()


def test_an_unknown_name_lists_all(star: Path) -> None:
    with pytest.raises(InputError, match=r"expected one of topology, ccdf, .*gates; found delays"):
        report.write_figure(star, ["delays"])

"""Tables of printed figures: the line, what two digits are worth, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.printed import calibrated, read
from tsnbench.scenario.catalogue.devices import described

HEAD = "quantity,value,octets,rate,hops\n"
SHEET = (
    HEAD
    + "mean,1.15 us,64,1 Gbit/s,1\nmean,3.3 us,512,1 Gbit/s,2\nmean,2.25 us,1500,1 Gbit/s,1\n"
    + "min,1.05 us,64,1 Gbit/s,1\np99,1.45 us,64,1 Gbit/s,1\nmax,2.15 us,64,1 Gbit/s,1\n"
)
"""Nearly 1171 ns + 0.74 ns an octet; the second row has two devices."""


def written(folder: Path, text: str) -> Path:
    file = folder / "sheet.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_line_through_printed_means(tmp_path: Path) -> None:
    found = calibrated(read(written(tmp_path, SHEET)), "a data sheet")
    # By hand: mean octets 692, mean time 1683.3 ns; Sxy / Sxx = 798,800 / 1,079,648.
    assert found.per_octet.value == pytest.approx(0.73987, abs=1e-5)
    assert found.fixed.value == pytest.approx(1_683.33 - 0.73987 * 692, abs=0.1)
    assert found.per_octet.low < 0.73987 < found.per_octet.high
    assert found.times.times[0] < 1_010 < 2_000 < found.times.times[-1]


def test_digits_that_are_not_printed_are_in_the_interval(tmp_path: Path) -> None:
    """Three values on a line: only their last digits are uncertain."""
    exact, rounded = (
        calibrated(
            read(
                written(
                    tmp_path,
                    HEAD + "".join(f"mean,{value} us,{octets},1 Gbit/s,1\n" for value, octets in rows),
                )
            ),
            "x",
        )
        for rows in (
            [("1.000", 100), ("1.500", 600), ("2.000", 1_100)],
            [("1.0", 100), ("1.5", 600), ("2.0", 1_100)],
        )
    )
    wide = [one.per_octet.high - one.per_octet.low for one in (exact, rounded)]
    assert wide[1] == pytest.approx(100 * wide[0], rel=1e-3)
    assert 0 < wide[1] <= 2 * 50 / 1_000 * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "mean,1 us,64,1 Gbit/s,1\n", "two sizes of frames, found 1"),
        (HEAD + "mean,1 us,64,1 Gbit/s,1\nmean,2 us,640,1 Gbit/s,1\n", "3 rows of mean or more, found 2"),
        (HEAD + "average,1 us,64,1 Gbit/s,1\n", ":2: quantity: expected one of mean, min"),
        (HEAD + "mean,1,64,1 Gbit/s,1\n", ":2: expected"),
        (HEAD + "mean,1 us,many,1 Gbit/s,1\n", ":2: "),
        (HEAD + "mean,1 us,64,1 Gbit/s,0\n", "at least 1, found 0"),
        ("a,b\n1,2\n", "expected the columns quantity, value, octets, rate, found a, b"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(CalibrationError) as error:
        calibrated(read(written(tmp_path, text)), "x")
    assert expected in str(error.value)


def test_the_command_writes_a_description(tmp_path: Path) -> None:
    written(tmp_path, SHEET)
    done = tsnbench("calibrate", "sheet.csv", "--for", "sw1", "--into", "own.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a line through 3 rows of mean" in done.stdout
    device = described(str(tmp_path / "own.yaml"))
    assert device.calibration is not None
    assert device.calibration.sizes == (64, 512, 1_500)
    listed = tsnbench("catalogue", "devices", "--folder", str(tmp_path)).stdout
    assert "own.yaml" in listed
    assert "printed figures of sheet.csv, for sw1" in listed

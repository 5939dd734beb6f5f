"""Result files of OMNeT++: exact times of vectors, statistics and counts of scalar files, damaged lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreign_files.written import measured
from tsnbench.errors import InputError

# Written for these tests in OMNeT++'s text format; the times of x are from INET 4.5.4, as in tests of the
# export.
VECTORS = r"""version 3
run General-0-20261122-10:00:00-1
attr configname General
attr network N
config *.b_host.app[0].display-name "\"x\""
config *.b_host.app[1].display-name "\"a long name\""

vector 0 N.b_host.app[0].sink meanBitLifeTimePerPacket:vector ETV
attr source meanBitLifeTimePerPacket
attr unit s
vector 1 "N.b_host.app[1].sink" "meanBitLifeTimePerPacket:vector" TV
vector 2 N.a.eth[0].queue queueLength:vector ETV
0	10	0.000017028016	1.7028016e-05
1	0.00002	1.25e-5
2	11	0.00002	7
0	20	0.000117028016	0.000017028016
0	30	0.000217028516	1.7028516e-05
1	0.00003	nan
"""
SCALARS = """version 2
run General-0
attr configname General
param *.b_host.app[0].display-name "\\"x\\""
scalar N.b_host.app[0].io packetReceived:count 200
scalar N.b_host.app[0].sink packetReceived:count 200
scalar N.b_host.app[0].source packetSent:count 0
scalar N.a.eth[0].macLayer.queue packetDropQueueOverflow:count 3
scalar N.a.eth[0].macLayer.queue queueingTime:mean 0.5
statistic N.b_host.app[0].sink meanBitLifeTimePerPacket:stats
field count 199
field mean 1.70285e-05
field stddev 1e-9
field min 1.7028e-05
field max 1.7029e-05
bin -inf 0
"""


def test_vectors_come_out_exactly(tmp_path: Path) -> None:
    found = measured(VECTORS, tmp_path)
    assert (found["tool"], [one["stream"] for one in found["streams"]]) == ("OMNeT++", ["x", "a long name"])
    delay, gaps = found["streams"][0]["figures"]
    assert (delay["name"], delay["count"], delay["missing"]) == ("delay since creation", 3, 0)
    assert (delay["min"], delay["median"], delay["max"]) == (17028, 17028, 17029)
    assert (gaps["name"], gaps["min"], gaps["max"], gaps["count"]) == ("between arrivals", 100000, 100001, 2)
    other = found["streams"][1]["figures"][0]
    assert (other["count"], other["missing"], other["min"]) == (1, 1, 12500)
    assert found["warnings"] == ["1 results are neither delays nor counts of packets and were left out"]


def test_statistics_and_counts_of_a_scalar_file(tmp_path: Path) -> None:
    found = measured(SCALARS, tmp_path)
    by_name = {one["stream"]: one for one in found["streams"]}
    assert list(by_name) == ["x", "a.eth[0].macLayer.queue"]
    # The application and its sink count the same packets.
    assert by_name["x"]["counts"] == {"received": 200}
    assert by_name["a.eth[0].macLayer.queue"]["counts"] == {"packetDropQueueOverflow": 3}
    (delay,) = by_name["x"]["figures"]
    assert (delay["count"], delay["min"], delay["max"], delay["median"]) == (199, 17028, 17029, None)
    assert delay["mean"] == pytest.approx(17028.5)


def test_a_statistic_of_a_recorded_vector_adds_no_second_figure(tmp_path: Path) -> None:
    found = measured(VECTORS + SCALARS.partition("\n")[2].replace("run General-0\n", ""), tmp_path)
    assert [one["name"] for one in found["streams"][0]["figures"]] == [
        "delay since creation",
        "between arrivals",
    ]


def test_without_display_names_the_module_is_the_name(tmp_path: Path) -> None:
    text = "".join(line + "\n" for line in VECTORS.splitlines() if not line.startswith("config"))
    names = [one["stream"] for one in measured(text, tmp_path)["streams"]]
    assert names == ["b_host.app[0]", "b_host.app[1]"]


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    found = measured(VECTORS.rstrip("\n").rsplit("\n", 1)[0] + "\n0\t40\t0.0003", tmp_path)
    assert "breaks off" in found["warnings"][0]
    assert found["streams"][0]["figures"][0]["count"] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (VECTORS.replace("0.000117028016", "soon"), "line 16: expected a line of OMNeT\\+\\+"),
        (VECTORS.replace("0.000117028016", "1e400"), "line 16: expected a line of OMNeT\\+\\+"),
        (VECTORS.replace("0\t20\t", "0\t20\t9\t"), "line 16: expected a line of OMNeT\\+\\+"),
        (SCALARS.replace("io packetReceived:count 200", "io packetReceived:count many"), "line 5"),
        (SCALARS.replace("sink meanBit", "sink meanBit x"), "line 10"),
        (
            "version 3\nrun a\nscalar N.a queueLength:max 3\n",
            "expected delays or counts .* found 1 other results",
        ),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        measured(text, tmp_path)

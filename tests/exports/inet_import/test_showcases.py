"""The configurations under ``showcases/tsn`` of INET: what their pages say holds in the imported scenarios.

``TSNBENCH_INET_SOURCE`` names a folder with INET's repository; this project neither fetches nor keeps it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import InputError
from tsnbench.exports.inet_import import scenario
from tsnbench.exports.inet_import.language import ini
from tsnbench.foreign import read_json
from tsnbench.planning import plan
from tsnbench.runs import Run
from tsnbench.scenario import load_variants

INET = os.environ.get("TSNBENCH_INET_SOURCE")
pytestmark = pytest.mark.skipif(INET is None, reason="needs INET's repository (TSNBENCH_INET_SOURCE)")
TSN = Path(INET or "") / "showcases/tsn"
REFUSED = {
    "streamfiltering/underthehood General": "PeekingUnderTheHoodShowcase.ned:",
    "trafficshaping/underthehood General": "PeekingUnderTheHoodShowcase.ned:",
}
"""Networks of queueing elements without nodes: the message has this line."""


def configurations() -> list[tuple[Path, str]]:
    found = []
    for path in sorted(TSN.rglob("*.ini")):
        read = ini.read(path.name, lambda name, folder=path.parent: (folder / name).read_text("utf-8"))
        # The file of extras includes the other one.
        own = [one for one in ini.configurations(read) if read.places.get(one, "").startswith(path.name)]
        found += [(path, one) for one in own]
    return found


class Measured:
    """The run of an imported configuration."""

    def __init__(self, place: str, into: Path) -> None:
        folder, config = place.split()
        file = "extras.ini" if config == "Recovery" else "omnetpp.ini"
        made = scenario(TSN / folder / file, config)
        into.mkdir()
        for name, text in {"scenario.yaml": made.text, **made.files}.items():
            (into / name).write_text(text, encoding="utf-8")
        self.run = into / "run"
        run_one(plan(load_variants(into / "scenario.yaml")[0]), self.run, Options(report=False))
        measures = read_json(self.run / "measures.json")
        self.paths: dict[str, Any] = {f"{one['stream']} {one['listener']}": one for one in measures["paths"]}

    def of(self, stream: str) -> Any:
        """The measures of the only listener of a stream."""
        (found,) = (one for key, one in self.paths.items() if key.startswith(f"{stream} "))
        return found

    def lost(self, stream: str) -> float:
        count = self.of(stream)["count"]
        return float(count["lost"] / count["sent"])

    def times(self, stream: str, stage: str) -> pl.DataFrame:
        """The number and the time in ns of each frame of a stream at a stage."""
        seen = Run.open(self.run).observations()
        own = seen.filter((pl.col("stream") == stream) & (pl.col("stage") == stage))
        return own.group_by("seq").agg(pl.col("t_ns").min())

    def released(self, stream: str) -> float:
        """The longest time in us from the application to the listener."""
        both = self.times(stream, "send").join(self.times(stream, "rx"), on="seq", suffix="_rx")
        return float((both["t_ns_rx"] - both["t_ns"]).max()) / 1000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "place", configurations() if INET else [], ids=lambda one: f"{one[0].parent.name}-{one[1]}"
)
def test_a_configuration_imports_and_plans(place: tuple[Path, str], tmp_path: Path) -> None:
    path, config = place
    refused = REFUSED.get(f"{path.parent.relative_to(TSN).as_posix()} {config}")
    if refused is not None:
        with pytest.raises(InputError, match=refused):
            scenario(path, config)
        return
    made = scenario(path, config)
    for name, text in {"scenario.yaml": made.text, **made.files}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    plan(load_variants(tmp_path / "scenario.yaml")[0])


@pytest.mark.parametrize(
    "place", ["gatescheduling/eager Eager", "trafficshaping/timeawareshaper TimeAwareShaping"]
)
def test_the_own_description_of_the_library_is_that_of_inet(place: str) -> None:
    folder, config = place.split()
    file = TSN / folder / "omnetpp.ini"
    assert scenario(file, config, inet=Path(INET or "")).text == scenario(file, config).text


def constant(*streams: str, below: float) -> Callable[[Measured], None]:
    """No frame is lost, and the delay never changes."""

    def holds(run: Measured) -> None:
        for one in streams:
            delay = run.of(one)["delay"]
            assert run.lost(one) == 0
            assert delay["min"] == delay["max"] < below * 1000

    return holds


def survives(run: Measured) -> None:
    assert run.lost("source") == 0


def breaks(run: Measured) -> None:
    # The node is down from 20 to 80 of 100 ms.
    assert 0.58 < run.lost("source") < 0.62


def policed(run: Measured) -> None:
    assert run.lost("misbehaving-traffic") > 0.05
    assert run.lost("normal-traffic") == 0
    assert run.of("normal-traffic")["delay"]["max"] < 5_000_000


def unpoliced(run: Measured) -> None:
    assert run.of("normal-traffic")["delay"]["max"] > 20_000_000


def within(run: Measured, stream: str, most: float) -> None:
    """A port passes so many bit/s of a stream, with preamble and gap, and nearly so many when it is busy."""
    arrivals = run.times(stream, "rx")["t_ns"].sort()
    # Over half a second with the most arrivals; a frame takes 1070 octets on the wire.
    frames = max(
        (arrivals <= at + 500_000_000).sum() - (arrivals < at).sum()
        for at in range(0, 9_500_000_000, 250_000_000)
    )
    assert 0.9 * most < frames * 1070 * 8 / 0.5 < 1.01 * most


def shaped(run: Measured) -> None:
    within(run, "best-effort", 42.64e6)
    within(run, "video", 21.32e6)


def in_their_gates(run: Measured) -> None:
    """The port is open for best effort in the first 4 of each 6 ms, and for video in the other 2."""
    for stream, begin, end in (("best-effort", 0, 4_000_000), ("video", 4_000_000, 6_000_000)):
        # A frame leaves the switch 50 ns before it arrives.
        phases = (run.times(stream, "rx")["t_ns"] - 50) % 6_000_000
        assert begin < phases.min() <= phases.max() <= end  # type: ignore[operator]


def waits_no_longer(run: Measured) -> None:
    """Around 1 s the filter begins to drop packets that would wait for more than 100 ms."""
    sent, arrived = run.times("best-effort", "send"), run.times("best-effort", "rx")
    dropped = sent.join(arrived, on="seq", how="anti")["t_ns"]
    assert 500_000_000 < dropped.min() < 1_500_000_000  # type: ignore[operator]
    assert run.of("best-effort")["delay"]["max"] < 101_000_000


def drifts(run: Measured) -> None:
    """The delay keeps changing, because the clocks drift apart."""
    delay = run.of("source2")["delay"]
    assert delay["max"] - delay["min"] > 10_000


def keeps(run: Measured) -> None:
    """Packets find their gates nearly as without drift; clocks differ by the order of microseconds."""
    for stream in ("source1", "source2"):
        delay = run.of(stream)["delay"]
        assert delay["max"] - delay["min"] < 10_000
    follows(run)


def follows(run: Measured) -> None:
    """In the second half of the time every clock is within 5 us of the grandmaster's."""
    errors = Run.open(run.run).clock_errors()
    late = errors.filter(pl.col("t_true_ns") > errors["t_true_ns"].max() // 2)  # type: ignore[operator]
    assert late["offset_ps"].null_count() == 0
    assert 0 < late["offset_ps"].abs().max() < 5_000_000  # type: ignore[operator]


def recovers(run: Measured) -> None:
    """The master's link is down from 2 to 3 of 4 s: afterwards, clocks are as near as before."""
    errors = Run.open(run.run).clock_errors()
    off = pl.col("offset_ps").abs().max()

    def between(begin: float, end: float) -> float:
        near = errors.filter(pl.col("t_true_ns").is_between(begin * 1e9, end * 1e9))
        return float(near.select(off).item())

    assert between(2.5, 3) > 3 * between(1, 2)
    assert between(3.5, 4) < 1.5 * between(1, 2)


STATEMENTS: dict[str, Callable[[Measured], None]] = {
    "trafficshaping/creditbasedshaper General": shaped,
    "trafficshaping/asynchronousshaper General": waits_no_longer,
    "trafficshaping/cbsandats General": shaped,
    "trafficshaping/cbsandtas General": in_their_gates,
    "trafficshaping/timeawareshaper TimeAwareShaping": constant("high-priority", below=11),
    "gatescheduling/eager Eager": constant("client1-video", "client2-video", below=500),
    "gatescheduling/sat SAT": constant("client1-video", "client2-video", below=500),
    "gatescheduling/tsnsched General": constant("client1-video", "client2-video", below=500),
    "framereplication/automaticfailureprotection NoFrameReplication": breaks,
    "framereplication/automaticfailureprotection FrameReplication": survives,
    "framereplication/automaticmultipathconfiguration General": survives,
    "framereplication/manualconfiguration General": survives,
    "streamfiltering/tokenbucket NoStreamFiltering": unpoliced,
    "streamfiltering/tokenbucket StreamFiltering": policed,
    "streamfiltering/statistical NoStreamFiltering": unpoliced,
    "streamfiltering/statistical StreamFiltering": policed,
    "timesynchronization/clockdrift NoClockDrift": constant("source1", "source2", below=21),
    "timesynchronization/clockdrift ConstantClockDrift": drifts,
    "timesynchronization/clockdrift RandomClockDrift": drifts,
    "timesynchronization/clockdrift RandomClockDriftGptpSync": keeps,
    "timesynchronization/gptp OneMasterClock": follows,
    "timesynchronization/gptp PrimaryAndHotStandbyMasterClocks": follows,
    "timesynchronization/gptp TwoMasterClocksExploitingNetworkRedundancy": follows,
    "combiningfeatures/gptpandtas Recovery": recovers,
}
"""What the page of a configuration says, as a test of its run."""


@pytest.mark.parametrize("place", STATEMENTS)
def test_the_statement_of_a_page_holds(place: str, tmp_path: Path) -> None:
    STATEMENTS[place](Measured(place, tmp_path / "run"))


def test_time_aware_shaping_lowers_the_delay(tmp_path: Path) -> None:
    without, gated = (
        Measured(f"trafficshaping/timeawareshaper {one}", tmp_path / one)
        for one in ("NoTrafficShaping", "TimeAwareShaping")
    )
    assert without.of("high-priority")["delay"]["max"] > 10 * gated.of("high-priority")["delay"]["max"]


def test_cut_through_is_faster_than_store_and_forward(tmp_path: Path) -> None:
    stored, cut = (
        Measured(f"cutthroughswitching {one}", tmp_path / one)
        for one in ("StoreAndForward", "CutthroughSwitching")
    )
    difference = stored.of("device1")["delay"]["median"] - cut.of("device1")["delay"]["median"]
    # Two switches need not store 1246 octets at 1 Gbit/s.
    assert 19_000 < difference < 20_000


@pytest.mark.parametrize("kind", ["", "Realistic"])
def test_pre_emption_gives_the_lowest_delay(kind: str, tmp_path: Path) -> None:
    fifo, priority, preempting = (
        Measured(f"framepreemption {kind}{one}", tmp_path / one).released("host1-app1")
        for one in ("FifoQueueing", "PriorityQueueing", "FramePreemption")
    )
    assert fifo > priority > preempting


def test_gates_follow_synchronised_clocks(tmp_path: Path) -> None:
    normal, failed = (
        Measured(f"combiningfeatures/gptpandtas {one}", tmp_path / one).of("tsnDevice1")["delay"]
        for one in ("NormalOperation", "LinkFailure")
    )
    assert normal["max"] - normal["min"] < 50_000
    assert failed["max"] - failed["min"] > 500_000

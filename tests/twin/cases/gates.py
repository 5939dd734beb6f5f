"""Gate control lists: no frame outside its window; and stream gates for received frames."""

from __future__ import annotations

from tsnbench.compare.gates import conformance
from tsnbench.compare.runs import opened
from tsnbench.runs import Run
from twin.arithmetic import PREAMBLE, Plan, octets_of, releases_us, way_of
from twin.case import Case, Quantity, frames
from twin.sightings import all_sent, arrived


def _gates(run: Run, own: int):  # type: ignore[no-untyped-def]
    return next(one for one in conformance(0, opened(run.folder)) if one.traffic_class == own)


WINDOWS = Case(
    "taprio-windows",
    (
        Quantity(
            "backlog: first bit after its gate opened, least",
            "us",
            lambda plan: 0.0,
            lambda run: _gates(run, 0).opening_ns / 1e3,
            above=0.5,
            why="taprio's timer is 3 to 4 us late in the guest, 0.3 to 0.4 us in the Plan's time",
        ),
        *(
            quantity
            for own, words in enumerate(("backlog", "alone in its window"))
            for quantity in (
                Quantity(
                    f"{words}: greatest time by which a frame began before its gate opened",
                    "us",
                    lambda plan: 0.0,
                    lambda run, own=own: _gates(run, own).early_ns / 1e3,  # type: ignore[misc]
                ),
                Quantity(
                    f"{words}: greatest time by which a frame ended after its gate closed",
                    "us",
                    lambda plan: 0.0,
                    lambda run, own=own: _gates(run, own).late_ns / 1e3,  # type: ignore[misc]
                    above=0.5,
                    why="as late as the gate opened",
                ),
            )
        ),
    ),
    "The device has the gates of a bridge: taprio hands its list to the device, and the gates open to the "
    "ns. In software, as on veth, taprio opens gates by a timer, which the kernel serves 3 to 4 us late. "
    "No frame leaves outside its window by more than this. taprio computes the guard with the "
    "interface's 10 Gbit/s. Therefore the configured list closes gates earlier by the difference. A qdisc "
    "that is attached below taprio resets it, and then all gates stay open (Linux 6.12). Therefore the "
    "list is configured again at the end, and read back after the run.",
    short=True,
)


def _passed(plan: Plan) -> float:
    """The number of frames whose last bit arrives while the gate is open."""
    first = way_of(plan, "beat")[0]
    way = (octets_of(plan, "beat") + PREAMBLE) * 8e6 / first["rate_bps"] + first["propagation_ps"] / 1e6
    return float(sum((at + way) % 1000 < 500 for at in releases_us(plan, "beat")))


STREAM_GATE = Case(
    "act-gate",
    (
        frames(
            "frames that pass", _passed, arrived("beat"), 1.0, 1.0, "a frame within some us of a gate's edge"
        ),
        all_sent("beat"),
    ),
    "The stream gate of `act_gate` checks a frame when the kernel receives it, some us after its last "
    "bit. If the gate closes within these us, the frame is lost. No frame arrives so late here.",
    short=True,
)


def _conforming(plan: Plan) -> float:
    """The number of frames for which a bucket of ``cbs`` octets, filled at ``cir``, has enough octets."""
    meter = plan["policing"][0]["meters"][0]
    own, full = octets_of(plan, "beat"), meter["cbs_octets"]
    held, before, passed = float(full), 0.0, 0
    for at in releases_us(plan, "beat"):
        held, before = min(full, held + (at - before) * meter["cir_bps"] / 8e6), at
        if held >= own:
            held, passed = held - own, passed + 1
    return float(passed)


POLICE = Case(
    "police",
    (
        frames(
            "frames that pass",
            _conforming,
            arrived("beat"),
            1.0,
            4.0,
            "a frame at a bucket's edge; and act_police does not count addresses, type, tag and FCS at "
            "ingress, 22 octets of 1046: 2.1 %",
        ),
        all_sent("beat"),
    ),
    "`act_police` behind `clsact` counts a frame without its addresses, type, tag and check sequence: 22 "
    "octets fewer than 802.1Q does (8.6.5.5), here 2.1 % of 1046. It therefore passes 2 to 3 frames more "
    "than 121. If all frames of a stream had one length, a rate and a burst that are lower by the same "
    "share would correct this. For several lengths no rate is right. Therefore the kernel is configured "
    "with the Plan's values.",
    short=True,
)

CASES = (WINDOWS, STREAM_GATE, POLICE)

"""Gate control lists that leave PTP's messages no window: clocks behind them run free.

IEEE 802.1Q-2022, 8.6.8.4; IEEE 802.1AS-2020. Lesson L1 of the COTS lessons.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tsnbench import quantities
from tsnbench.plan.gates import open_windows
from tsnbench.plan.streams import ptp_traffic
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.streams.settling import margin_ps, settling_ns
from tsnbench.plan.warnings.doubt import Doubt
from tsnbench.plan.warnings.gates import behind


def ptp_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: clocks-unsettled, ptp-no-window, ptp-window-too-short."""
    document = facts.document
    needs, runs = settling_ns(document), document["duration_ns"]
    if needs is not None and runs < needs:
        margin = quantities.time(Fraction(margin_ps(document) or 0, 1_000))
        text = f"servos need about {quantities.time(needs)} until clocks stay within the margin of {margin}, "
        text += f"the run takes {quantities.time(runs)}: the clocks may not settle before its end"
        hint = f"write a duration of more than {quantities.time(needs)}, and measure-from: settled"
        yield Doubt("clocks-unsettled", "clocks", text, "duration", hint=hint)
    pcp = ptp_traffic.pcp_of(document)
    if pcp is None:
        return
    for number in ptp_traffic.ports_of(document):
        port = document["ports"][number]
        if "gates" not in port or port["gates"].get("unguarded", False):
            continue
        traffic_class = port["pcp_to_class"][pcp]
        needs = -(-ptp_traffic.longest_ps(port["rate_bps"]) // 1_000)
        for one in facts.lists(number):
            windows = open_windows(one.gates, traffic_class)
            told = behind(one, facts)
            if windows is None:
                continue
            what = f"PTP's messages (PCP {pcp}, class {traffic_class})"
            if not windows:
                text = (
                    f"{what} have no window{told}, clocks behind this port run free: "
                    "open their class in some entry, or give them another PCP"
                )
                yield Doubt("ptp-no-window", port["name"], text, "gates", port["name"])
            elif max(windows) < needs:
                text = (
                    f"{what} take up to {quantities.time(needs)}, their longest window{told} is "
                    f"{quantities.time(max(windows))}: make it longer"
                )
                yield Doubt("ptp-window-too-short", port["name"], text, "gates", port["name"])

"""The meaning of every word and number of a report, which each report contains."""

from __future__ import annotations

from tsnbench.measure.outcome import LEGEND, WORDS, Outcome
from tsnbench.report.facts import RunFacts

JITTER = {
    "delay-step": "delay(i) \u2212 delay(i\u22121), signed, between a flow's consecutive received frames "
    "(EnGINE eq. 10); the "
    "first frame has none.",
    "delay-step-abs": "|delay(i) \u2212 delay(i\u22121)|: the size of the delay-step.",
    "deviation": "|delay(i) \u2212 mean delay|: how far each frame is from the flow's mean (OCORA).",
    "interval": "|gap between consecutive arrivals \u2212 period|; without a period, the mean gap is used "
    "instead.",
}

SEND_TO_TX = "from handing the frame to the queue of the talker's port to the stamp t_tx."

RELEASE_DELAY = (
    "from handing the frame to the queue of the talker's port to the stamp t_rx: send to tx and delay."
)

LOSS = (
    (
        "never sent",
        "a sequence number that is missing already at the first tap. Not known if frames carry no "
        "sequence number of their talker, as with IPv4 identification.",
    ),
    ("sent", "frames observed at the talker's tap."),
    ("received", "frames observed at the listener's tap, each counted once."),
    (
        "lost",
        "sent, but never observed at the listener; “last observed at” names its last tap.",
    ),
    ("late", "received, but with a delay above the stream's requirement; counts as received."),
    ("duplicate", "further observations of a frame that the listener had already received."),
    ("reordered", "received after a frame of the flow with a higher sequence number."),
)

UNCERTAINTY = (
    "the uncertainty of a time: the greatest of all frames. It follows from the readings of the clocks at "
    "both ends around each frame, from the ticks of the stamps, and from the stated errors that the readings "
    f"do not show. No delay is corrected by it. {WORDS[Outcome.UNCERTAIN]}: {LEGEND[Outcome.UNCERTAIN]}"
)

GENERAL = (
    (
        "quantile",
        "nearest rank on integers: the p-quantile of n samples is the ⌈p·n⌉-th smallest, without "
        "interpolation. With fewer than 1 000 samples, p99.9 is the maximum.",
    ),
    (
        "mean, standard deviation",
        "from exact integer sums; the standard deviation is that of the population.",
    ),
    (
        "verdict",
        " ".join(f"{WORDS[one]}: {LEGEND[one]}" for one in reversed(Outcome) if one is not Outcome.UNCERTAIN),
    ),
    ("margin", "limit \u2212 found, or found \u2212 limit for a least rate: negative means broken."),
    (
        "bound",
        "the worst case: the greatest delay, between the same stamps, that any phases, jitter and choices of "
        "other streams within the Plan can cause. It comes from the Plan alone, not from this run.",
    ),
    (
        "rate on a link",
        "frames with their overhead on the wire: preamble, start delimiter and inter-frame gap (20 "
        "octets more "
        "than from destination address to FCS). 100 % is the link's rate.",
    ),
    ("hop", "one link of the path from talker to listener."),
)


def definitions(run: RunFacts) -> list[tuple[str, str]]:
    """Words of this report with their meanings."""
    released = [group for group in run.groups if group.release_delay]
    used = {kind for group in run.groups for kind in group.jitter}
    return [
        ("delay", "delay(i) = t_rx(i) \u2212 t_tx(i), with the stamps below. " + _points(run)),
        *((f"jitter: {kind}", text) for kind, text in JITTER.items() if kind in used),
        ("jitter: spread", "standard deviation of the delay (FlexTest)."),
        *([("send to tx", SEND_TO_TX)] if any(group.send_to_tx for group in run.groups) else []),
        *(("delay from release", RELEASE_DELAY) for _ in released[:1]),
        *LOSS,
        *GENERAL,
        *([("\u00b1", UNCERTAINTY)] if any(group.uncertainty for group in run.groups) else []),
        *_clocks(run),
    ]


def _points(run: RunFacts) -> str:
    """The points of a frame that this run's timestamps refer to."""
    words = {
        "start": "the frame's start (first bit after the start frame delimiter)",
        "end": "its end (last bit of the FCS)",
    }
    points = {
        side: sorted({tap["point"] for tap in run.plan["taps"] if tap["stage"] == side})
        for side in ("tx", "rx")
    }
    if not points["tx"] or not points["rx"]:
        return "The point of the frame that a stamp refers to depends on the capturing device."
    tx, rx = (" or ".join(words.get(point, point) for point in points[side]) for side in ("tx", "rx"))
    text = f"t_tx is taken at {tx} where it leaves the talker, t_rx at {rx} where it reaches the listener"
    if points == {"tx": ["start"], "rx": ["end"]}:
        text += (
            ", so a delay contains the time that the frame takes on each of its links, the last one "
            "included, and not the time that it waits in the talker's own port before it leaves"
        )
    return text + "."


def _clocks(run: RunFacts) -> list[tuple[str, str]]:
    offset = run.offset or {}
    if not offset:
        return []
    applied = "It was applied." if offset.get("applied") else "It was NOT applied."
    return [("clock offset", f"{offset.get('text') or str(offset.get('seconds')) + ' s'} {applied}")]

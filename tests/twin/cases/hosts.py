"""Hosts: launch times with and without the card's help, gates in the kernel or with its assistance."""

from __future__ import annotations

from tsnbench.runs import Run
from twin.arithmetic import GAP, PREAMBLE, Plan, octets_of, port_of, releases_us
from twin.case import Case, Quantity, frames
from twin.sightings import all_arrive, arrived, dropped_at_talker, left

PORT = "n1 -> n2"
TIMER = "a timer of the kernel: 3 to 5 us late, as taprio's; and the driver's path"
DEVICE = "rounding only: the card sends at that ns"


def _first_bits_us(run: Run, stream: str) -> list[float]:
    """The departures of frames with their preamble; stamps are taken after the preamble."""
    table = left(run, f"{PORT} tx")
    early = PREAMBLE * 8e6 / port_of(run.plan.document, PORT)["rate_bps"]
    return [at / 1e3 - early for at in table.filter(table["stream"] == stream)["t_ns"]]


def _after_time(run: Run) -> float:
    """The median time from the launch time to the first bit."""
    table = left(run, f"{PORT} tx")
    numbers = table.filter(table["stream"] == "timed")["seq"]
    meant = [500.0 + 1000.0 * number for number in numbers]
    apart = sorted(a - b for a, b in zip(_first_bits_us(run, "timed"), meant, strict=True))
    return apart[len(apart) // 2]


STRICT = Case(
    "etf",
    tuple(
        Quantity(
            f"{variant}: departure after the frame's time",
            "us",
            lambda plan, early=early: early,  # type: ignore[misc]
            _after_time,
            below=0.001,
            above=late or 0.001,
            why=TIMER if late else DEVICE,
            paper=paper,
            variant=variant,
        )
        for variant, early, late, paper in (
            ("software 100 us", -100.0, 7.0, "txtime - delta (COTS lessons, L2)"),
            ("software 200 us", -200.0, 7.0, "txtime - delta (COTS lessons, L2)"),
            ("offload 200 us", 0.0, 0.0, "txtime (COTS lessons, L2)"),
        )
    ),
    "Without the card's help etf's own timer decides. The frame leaves delta before its time, plus some 2 "
    "us for the timer and the driver. With the card's help the frame is handed over at the same early "
    "time, and the card holds it for delta. This agrees with the observation of the COTS lessons (Fig. 3, "
    "deltas of 25 to 300 us): delays do not depend on delta without offload, and grow with delta under "
    "offload. Delays behave in this way if they are measured from the point at which the kernel hands the "
    "frame over.",
    dilate=1,
    short=True,
)

DEADLINE = Case(
    "etf-deadline",
    (
        Quantity(
            "departure after the frame's time",
            "us",
            lambda plan: -400.0,
            _after_time,
            above=15.0,
            why="the talker's wakeup and the frame's path through the kernel, some 10 us as for any hop",
        ),
    ),
    "The talker's timer is set 400 us before the frame's time. The rest is the latency of its wakeup and "
    "the frame's path through the kernel. delta has no effect here.",
    dilate=1,
    short=True,
)


def _told(run: Run) -> float:
    """Missed launch times: a socket's error queue reports them; the simulator counts its drops there."""
    if "guest" in run.manifest:
        return float(run.manifest["guest"].get("launch_times_missed", {}).get("late", 0))
    return dropped_at_talker("late")(run)


LATE = Case(
    "etf-late",
    (
        all_arrive("timed", "frames of talkers that woke in time, received"),
        frames(
            "frames of talkers that woke at their time, dropped by the port's etf",
            lambda plan: float(len(releases_us(plan, "late"))),
            dropped_at_talker("late"),
        ),
        frames(
            "dropped frames that are reported to the talker",
            lambda plan: float(len(releases_us(plan, "late"))),
            _told,
        ),
        frames("frames of talkers that woke at their time, received", lambda plan: 0.0, arrived("late")),
    ),
    "etf compares a frame's time with the clock when the frame arrives: no margin helps a talker that is "
    "woken too late. The socket's error queue has a message for each dropped frame "
    "(`SO_EE_CODE_TXTIME_INVALID_PARAM`). The manifest counts these messages as `launch_times_missed`.",
    dilate=1,
    short=True,
)


def _phases(run: Run, stream: str) -> list[float]:
    cycle = 1000.0
    return [at % cycle for at in _first_bits_us(run, stream)]


def _behind(plan: Plan) -> float:
    """The time from one frame's first bit to the next one's, without idle time."""
    rate = port_of(plan, PORT)["rate_bps"]
    return (octets_of(plan, "beat") + PREAMBLE + GAP) * 8e6 / rate


def _second(run: Run) -> float:
    """The least distance of a frame from the opening, without frames at the opening itself."""
    return min(phase for phase in _phases(run, "beat") if phase > 0.01)


ASSISTED = Case(
    "txtime-assist",
    (
        Quantity(
            "first bit after the gate opened, least",
            "us",
            lambda plan: 0.0,
            lambda run: min(_phases(run, "beat")),
            below=0.001,
            above=0.001,
            why=DEVICE,
        ),
        Quantity(
            "first bit of the next frame after the gate opened",
            "us",
            _behind,
            _second,
            below=0.001,
            above=0.001,
            why=DEVICE,
        ),
        frames(
            "frames outside their window",
            lambda plan: 0.0,
            lambda run: float(sum(not 0 <= phase < 300 for phase in _phases(run, "beat"))),
        ),
        all_arrive("beat", "frames that arrive"),
    ),
    "taprio computes launch times (flag 0x1), and etf keeps them with the card's help. The kernel's "
    "timers have no effect on the departure of a frame.",
    dilate=1,
    short=True,
)

SOFTWARE = Case(
    "taprio-software",
    tuple(
        quantity
        for name, opens, closes in (("beat", 0.0, 300.0), ("other", 600.0, 1000.0))
        for quantity in (
            Quantity(
                f"{name}: first bit after its gate opened, least",
                "us",
                lambda plan: 0.0,
                lambda run, name=name, opens=opens: min(  # type: ignore[misc]
                    phase - opens for phase in _phases(run, name) if phase >= opens
                ),
                above=7.0,
                why=TIMER,
            ),
            frames(
                f"{name}: frames that begin outside their window",
                lambda plan: 0.0,
                lambda run, name=name, opens=opens, closes=closes: float(  # type: ignore[misc]
                    sum(not opens - 0.001 <= phase < closes for phase in _phases(run, name))
                ),
            ),
        )
    ),
    "taprio in software opens its gates by a timer, some 5 us late each time. The simulator opens them at "
    "the times of the list. Windows for such a host need this time as a margin at their beginning.",
    dilate=1,
    short=True,
)

CASES = (STRICT, DEADLINE, LATE, ASSISTED, SOFTWARE)

"""Strict priority, classes of several priorities, and priorities in tags over several bridges."""

from __future__ import annotations

from tsnbench.runs import Run
from twin.arithmetic import Plan, alone_us, delays_past_us, port_of, quantile, releases_us, stream_of
from twin.case import Case, Quantity
from twin.sightings import delay, left

HOPS = "two hops of a kernel, up to 1.5 us each in the Plan's time"
ALL = ["loop", "files", "films"]
PORT = "switch -> robot"


def _past(part: float, name: str):  # type: ignore[no-untyped-def]
    return lambda plan: quantile(delays_past_us(plan, PORT, ALL, name), part)


STRICT = Case(
    "strict-priority",
    (
        Quantity(
            "urgent frame: least delay", "us", _past(0.0, "loop"), delay("loop", "min"), above=3.0, why=HOPS
        ),
        Quantity(
            "urgent frame: median",
            "us",
            _past(0.5, "loop"),
            delay("loop", "median"),
            below=3.0,
            above=6.0,
            why="its own hops, and the hop of the frame before it, which may be early or late",
        ),
        Quantity(
            "urgent frame: 95th percentile",
            "us",
            _past(0.95, "loop"),
            delay("loop", "p95"),
            below=3.0,
            above=6.0,
            why="its own hops, and the hop of the frame before it, which may be early or late",
        ),
    ),
    "A frame on the wire is not interrupted. No other frame of a lower class is sent before the urgent "
    "frame. In the guest every class has a queue of its own (`mqprio`), and the MAC of the device serves "
    "the highest class first, as hardware does. On veth interfaces a `prio` qdisc chooses the frame, "
    "below an HTB class in place of the MAC. HTB may send a frame up to 4 us early; the wire behind it "
    "corrects this.",
    short=True,
)


def _mapped(plan: Plan) -> str:
    """The order of departures: from the highest class on, and in the order of arrival in each class."""
    mapping = port_of(plan, "switch -> listener")["pcp_to_class"]
    names = [f"p{pcp}" for pcp in range(8)]
    ordered = sorted(names, key=lambda name: (-mapping[stream_of(plan, name)["pcp"]], name))
    return " ".join(["block", *ordered])


def _seen_order(run: Run) -> str:
    orders = {}
    table = left(run, "switch -> listener tx")
    for (_,), burst in (
        table.with_columns(burst=table["t_ns"] // 4_000_000).partition_by("burst", as_dict=True).items()
    ):
        order = " ".join(burst["stream"].to_list())
        orders[order] = orders.get(order, 0) + 1
    return max(orders, key=lambda order: orders[order])


def _by_class(plan: Plan) -> str:
    """The number of frames in each class of the port, from the lowest class on."""
    mapping = port_of(plan, "switch -> listener")["pcp_to_class"]
    counts = [0] * (max(mapping) + 1)
    for stream in plan["streams"]:
        counts[mapping[stream["pcp"]]] += len(releases_us(plan, stream["name"]))
    return " ".join(map(str, counts))


def _counted(run: Run) -> str:
    port = next(one for one in run.counters["ports"] if one["port"] == "switch -> listener")
    return " ".join(str(own["sent_frames"]) for own in sorted(port["classes"], key=lambda own: own["class"]))


MAPPING = Case(
    "priority-mapping",
    (
        Quantity(
            "order of leaving, most bursts", "", _mapped, _seen_order, why="the order has to be the same"
        ),
        Quantity(
            "frames by class, the lowest first",
            "",
            _by_class,
            _counted,
            why=(
                "the queue of each class counts the frames that mqprio maps to it; the numbers have to be "
                "equal"
            ),
        ),
    ),
    "A bridge of the kernel reads the tag's priority with a `flower` filter and `skbedit`; `mqprio` (on "
    "veth `prio`) maps it to a class.",
    short=True,
)

LINE = Case(
    "vlan-line",
    (
        Quantity(
            "urgent frame over four links: least delay",
            "us",
            lambda plan: alone_us(plan, "loop"),
            delay("loop", "min"),
            above=6.0,
            why="four hops of a kernel, up to 1.5 us each",
        ),
        Quantity(
            "at most one interfering frame at each of two bridges: bound of the 95th percentile",
            "",
            lambda plan: "yes",
            lambda run: (
                "yes"
                if delay("loop", "p95")(run)
                <= alone_us(run.plan.document, "loop") + 2 * (1522 + 20) * 0.08 + 12.0
                else "no"
            ),
            why="two frames of 1542 octets, and 12 us for the kernel's hops",
        ),
    ),
    "The tag of VLAN 200 keeps its priority through three bridges with VLAN filtering.",
    short=True,
)

CASES = (STRICT, MAPPING, LINE)

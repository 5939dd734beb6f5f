"""Random networks of Saihu, in both of its forms."""

from __future__ import annotations

import json
import random
from typing import Any
from xml.sax.saxutils import quoteattr

UNITS = {"time": ("ns", "us", "ms"), "data": ("B", "kB", "b"), "rate": ("kbps", "Mbps", "MBps")}


def output_ports(seed: int) -> dict[str, Any]:
    """An output-port network: any servers after each other, so that circles and shared paths are common."""
    draw = random.Random(seed)
    count = draw.randint(1, 10)
    ports = [f"s{number // 2}-o{number % 2}" if seed % 2 else f"S{number}" for number in range(count)]
    flows = []
    for number in range(draw.randint(1, 8)):
        paths = [draw.sample(ports, draw.randint(1, min(count, 6))) for _ in range(draw.choice((1, 1, 1, 3)))]
        length = draw.choice((64, 100, 500, 1500))
        flow: dict[str, Any] = {
            "name": f"f{number}",
            "path": paths[0],
            "arrival_curve": {
                "bursts": [f"{length * draw.randint(1, 4)}B", "3kB"][: draw.randint(1, 2)],
                "rates": [f"{draw.randint(1, 900)}kbps", 50][: draw.randint(1, 2)],
            },
            "max_packet_length": length,
        }
        curve = flow["arrival_curve"]
        least = min(len(curve["bursts"]), len(curve["rates"]))
        flow["arrival_curve"] = {key: values[:least] for key, values in curve.items()}
        if len(paths) > 1:
            flow["multicast"] = [
                {"name": f"p{place}", "path": path} for place, path in enumerate(paths[1:], 1)
            ]
        flows.append(flow)
    servers = [
        {
            "name": name,
            "service_curve": {"latencies": [draw.randint(0, 100)], "rates": [f"{draw.randint(10, 90)}Mbps"]},
            **({"capacity": draw.choice((100, "1Gbps"))} if draw.random() < 0.8 else {}),
        }
        for name in ports
    ]
    network = {
        "name": f"random {seed}",
        "packetizer": draw.random() < 0.5,
        "multiplexing": "FIFO",
        "time_unit": "us",
        "data_unit": "B",
        "rate_unit": "Mbps",
    }
    return {"network": network, "flows": flows, "servers": servers}


def physical(seed: int) -> str:
    """A physical network: a tree of switches with stations, links in both directions, and flows."""
    draw = random.Random(seed)
    count = draw.randint(1, 6)
    parent = [draw.randrange(number) if number else 0 for number in range(count)]
    lines = ['<?xml version="1.0"?>', "<elements>", '<network name="n" technology="FIFO+IS+PK"/>']
    nodes = [f"sw{number}" for number in range(count)]
    up = {f"sw{number}": f"sw{parent[number]}" for number in range(1, count)}
    for number in range(2 * count):
        up[f"st{number}"] = draw.choice(nodes)
    links = [pair for low, high in up.items() for pair in ((low, high), (high, low))]
    for name in dict.fromkeys((*nodes, *up)):
        kind = "switch" if name.startswith("sw") else "station"
        served = (
            f'service-latency="{draw.randint(0, 20)}us" service-rate="50Mbps"' if kind == "switch" else ""
        )
        lines.append(f"<{kind} name={quoteattr(name)} {served}/>")
    for one, other in links:
        lines.append(f'<link from="{one}" to="{other}" transmission-capacity="100Mbps"/>')
    for number in range(draw.randint(1, 5)):
        source, *sinks = draw.sample([name for name in up if name.startswith("st")], 2)
        lines.append(
            f'<flow name="f{number}" arrival-curve="leaky-bucket" lb-burst="{draw.randint(1, 3)}kB" '
            f'lb-rate="1Mbps" maximum-packet-size="1000B" source="{source}">'
        )
        for sink in sinks:
            lines += [
                "<target>",
                *(f'<path node="{node}"/>' for node in _path(up, source, sink)[1:]),
                "</target>",
            ]
        lines.append("</flow>")
    return "\n".join([*lines, "</elements>", ""])


def _path(up: dict[str, str], one: str, other: str) -> list[str]:
    def to_root(node: str) -> list[str]:
        return [node, *to_root(up[node])] if node in up else [node]

    first, second = to_root(one), to_root(other)
    meet = next(node for node in first if node in second)
    return [*first[: first.index(meet) + 1], *reversed(second[: second.index(meet)])]


def written(network: dict[str, Any]) -> str:
    return json.dumps(network, indent=2)

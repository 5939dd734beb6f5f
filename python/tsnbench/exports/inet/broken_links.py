"""Links that break, as a script of INET's scenario manager."""

from __future__ import annotations

from tsnbench.exports.inet.layout import Layout
from tsnbench.plan.network import Network


def script(network: Network, layout: Layout) -> list[str]:
    """Switches both directions of a link off and on again; empty without a broken link."""
    steps: list[tuple[int, str, str]] = []
    for fault in network.document.get("faults", []):
        if fault["kind"] != "link-down":
            continue
        for port in (fault["port"], network.ports[fault["port"]]["peer"]):
            name = layout.names[network.ports[port]["node"]]
            for at, value in ((fault["from_ns"], "true"), (fault["until_ns"], "false")):
                steps.append((at, f"{name}' src-gate='ethg$o[{network.place(port)}]", value))
    if not steps:
        return []
    lines = ["", "# links that break", '*.scenarioManager.script = xml("<scenario> \\']
    for at in sorted({at for at, _, _ in steps}):
        lines.append(f"    <at t='{at}ns'> \\")
        lines += [
            f"        <set-channel-param src-module='{end}' par='disabled' value='{value}'/> \\"
            for instant, end, value in steps
            if instant == at
        ]
        lines.append("    </at> \\")
    return [*lines, '    </scenario>")']

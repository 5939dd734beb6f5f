"""A Plan for people who run their testbed with Ansible: an inventory, and plays for EnGINE's four phases.

The plays are thin: they copy the files that ``tc`` and ``ptp4l`` write, run the scripts in them, and fetch.
They use modules of ansible.builtin alone. Nothing of Ansible is imported.
"""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.plan.document import Plan
from tsnbench.plan.frames import CAPTURED_OCTETS
from tsnbench.plan.gates import gate_lists
from tsnbench.plan.network import Network, file_name

if TYPE_CHECKING:
    from tsnbench.linux.profile import Profile
    from tsnbench.plan.notes import Notes

PHASES = ("install", "setup", "scenario", "process")
"""Of EnGINE's framework, II-D."""
# Quotes of two kinds only: Ansible's templates of 2.19 and later keep a backslash before a quote.
_PROGRAM = 'python3 -c "from tsnbench.backends.kernel import traffic; print(traffic.program())"'


def files(network: Network, profile: Profile, notes: Notes) -> dict[str, str]:
    """The inventory, the four plays, the Plan, and the files of each node."""
    notes.warn(
        "plays",
        "they do not wait for synchronised clocks, try no run again, and compare no state before and after; "
        "`tsnbench run --on hosts` does",
    )
    notes.parts(network, "the plays run no faults", "faults")
    if any(tap["stage"] not in ("tx", "rx") for tap in network.document["taps"]):
        notes.lost("taps at stages of hosts' software", "captures of interfaces do not see them")
    folder = Path(__file__).parent
    plays = {f"ansible/{phase}.yml": (folder / f"{phase}.yml").read_text("utf-8") for phase in PHASES}
    runs = {
        f"ansible/{file_name(one['name'])}/run.sh": _run(network, node, profile)
        for node, one in enumerate(network.nodes)
    }
    inventory = {"ansible/inventory.yml": _inventory(network, profile)}
    return {**inventory, **plays, "ansible/plan.json": Plan(network.document).to_json(), **runs}


def _inventory(network: Network, profile: Profile) -> str:
    """All nodes as hosts. It is JSON within YAML, so that names need no quoting rules."""
    document = network.document
    names = {
        port: f"p{network.place(port) + 1}"
        for node in range(len(network.nodes))
        for port in network.ports_of(node)
    }

    def end(port: int) -> str:
        return f"{network.nodes[network.ports[port]['node']]['name']}.{names[port]}"

    lines = [
        "# The hosts of one Plan. Add ansible_host and ansible_user where a name is no address.",
        "# With ansible_user root, set ansible_become to false: such hosts may have no sudo.",
        "# Interfaces are named by --interface of tsnbench plan.",
        "all:",
        "  hosts:",
    ]
    for node, one in enumerate(network.nodes):
        ports = {names[port]: profile.interface(network, port) for port in network.ports_of(node)}
        lines += [
            f"    {json.dumps(one['name'])}:",
            f"      tsnbench_node: {json.dumps(file_name(one['name']))}",
            f"      tsnbench_ports: {json.dumps(ports)}",
        ]
    values = {
        "ansible_become": True,
        "tsnbench_wires": [f"{end(a)} - {end(b)}" for a, b in network.links()],
        "tsnbench_target": "/var/tmp/tsnbench",
        "tsnbench_talker": f"{{{{ lookup('ansible.builtin.pipe', '{_PROGRAM}') }}}}",
        "tsnbench_ptp": "gptp" in document.get("clocks", {}),
        "tsnbench_lead_s": 30,
        "tsnbench_run_s": -(-(document["duration_ns"] + document["drain_ns"]) // 10**9),
        "tsnbench_step_ns": step_ns(network),
    }
    lines += ["  vars:", *(f"    {name}: {json.dumps(value)}" for name, value in values.items())]
    return "".join(f"{line}\n" for line in lines)


def step_ns(network: Network) -> int:
    """The least common multiple of all gate cycles: a Plan's zero keeps its phase in steps of it."""
    cycles = [
        entries["cycle_ns"]
        for port in network.ports
        if "gates" in port
        for entries in gate_lists(port["gates"])
    ]
    return math.lcm(*cycles) if cycles else 1


def _run(network: Network, node: int, profile: Profile) -> str:
    """The script of a node for a run: capture, send, and end."""
    document = network.document
    own = network.ports_of(node)
    tapped = sorted(
        {tap["port"] for tap in document["taps"] if tap["stage"] in ("tx", "rx") and tap["port"] in own}
    )
    devices = [profile.interface(network, port) for port in tapped]
    stamps = "host" if profile.software_stamps else "adapter_unsynced"
    lines = [
        "#!/bin/sh",
        "# run.sh EPOCH: captures, then the talker. EPOCH is the Plan's zero in ns of CLOCK_TAI.",
        "epoch=${1:?expected the zero of the Plan in ns of CLOCK_TAI}",
        "now() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_TAI))'; }",
        "captures=",
        "trap 'kill $captures 2> /dev/null; wait' EXIT",
    ]
    for device in devices:
        word = shlex.quote(device)
        lines += [
            f"tcpdump -i {word} -j {stamps} --time-stamp-precision=nano -s {CAPTURED_OCTETS} "
            f'-U --immediate-mode -w results/{word}.pcap 2> results/{word}.txt & captures="$captures $!"',
            f'until grep -qs "listening on" results/{word}.txt; do '
            f"kill -0 $! 2> /dev/null || {{ cat results/{word}.txt >&2; exit 1; }}; sleep 0.1; done",
        ]
    # A node that is late ends with an error; it must not begin at another instant than all other nodes.
    lines.append('[ "$(now)" -lt "$epoch" ] || { echo "the zero of the Plan has passed" >&2; exit 1; }')
    talks = any(stream["talker"] == node for stream in network.streams)
    if talks:
        ports = " ".join(f"--port {port}={shlex.quote(profile.interface(network, port))}" for port in own)
        lines.append(
            f'./tsnbench-traffic talk plan.json --node {node} {ports} --epoch "$epoch" '
            "--log results/talk.txt & talker=$!"
        )
    whole = document["duration_ns"] + document["drain_ns"]
    lines.append(f"sleep $(( (epoch + {whole} - $(now)) / 1000000000 + 3 ))")
    if talks:
        lines.append("wait $talker")
    return "".join(f"{line}\n" for line in lines)

"""The configuration of a guest with its own device. Needs no guest."""

from __future__ import annotations

import pytest

from support.kernel_text import namespaces, port_of, script_of, tsnport_port, understood, veth_port
from support.planned import document_of, plan_of
from support.star import GATES, STAR
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.results.returned import Returned
from tsnbench.backends.kernel.tsnport import TSNPORT, config
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.vm import device
from tsnbench.errors import BackendError
from tsnbench.plan.slow_motion import dilated

HOST = """
name: host
duration: 20 ms
network:
  hosts: [a, b]
  links: {rate: 1 Gbit/s, between: [a -- b]}
  queues: {classes: {3: 3, 2: 2, 1: 1, 0: 0}}
hosts: {default: low-latency}
streams:
  loop: {from: a, to: b, class: sr/A, payload: 256 B, period: 1 ms}
shapers:
  a -> b:
    qdisc: {taprio: software}
    gates: {entries: [{open: [3], for: 300 us}, {open: [2, 1, 0], for: 700 us}]}
"""


def test_a_link_is_one_line_of_the_configuration_with_a_clock_per_node():
    document = document_of(STAR.replace("SHAPER", "{}"))
    lines = config.links(dilated(document, 10))
    assert len(lines) == 3
    numbers = {end.partition("@")[0] for line in lines for end in line.split()[:2]}
    assert numbers == {f"p{number}" for number in range(6)}
    switch = next(n for n, node in enumerate(document["nodes"]) if node["name"] == "switch")
    assert sum(f"@{switch} " in f"{line} " for line in lines) == 3
    # Dilated by 10: a tenth of the rate, ten times the propagation delay.
    rate, delay = (int(word) for word in lines[0].split()[2:4])
    assert rate == 10_000_000
    assert delay == document["ports"][0]["propagation_ps"] * 10


def test_the_gates_of_a_bridge_are_offloaded():
    document = document_of(STAR.replace("SHAPER", GATES))
    number = port_of(document, "switch -> robot")
    lines = tsnport_port(dilated(document, 10), number)
    assert lines[0].startswith(f"qdisc replace dev p{number} parent root handle 100: taprio num_tc 2 map ")
    assert "queues 1@0 1@1 base-time $((EPOCH-2010000000)) sched-entry S 02 2000000" in lines[0]
    assert lines[0].endswith("cycle-time 10000000 flags 0x2")
    assert not any("change" in line for line in lines)


def test_a_hosts_gates_are_in_software_and_configured_twice():
    document = document_of(HOST)
    number = port_of(document, "a -> b")
    lines = tsnport_port(document, number)
    assert "flags" not in lines[0]
    assert lines[-1].startswith(f"qdisc change dev p{number} root handle 100: taprio base-time $((EPOCH-")
    assert lines[-1].endswith("clockid CLOCK_TAI")
    # Filters of ingress ports are configured before the queueing disciplines.
    told = namespaces(document, TSNPORT)["n0"].tc
    assert "clsact" in told[0]
    assert told[-1] == lines[-1]


def test_shapers_count_what_a_frame_costs_on_the_wire():
    text = STAR.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}, cbs: {6: 10 Mbit/s}}")
    document = document_of(text)
    lines = tsnport_port(document, port_of(document, "switch -> robot"))
    shaped = [line for line in lines if " cbs " in line]
    assert len(shaped) == 1
    # A bridge carries the tag of a received frame beside the frame.
    assert "stab overhead 28 linklayer ethernet cbs idleslope 10000 sendslope -90000 " in shaped[0]
    own = tsnport_port(document | {"streams": []}, port_of(document, "switch -> robot"))
    assert any("stab overhead 24 linklayer ethernet cbs " in line for line in own)


def test_a_given_send_slope_is_the_devices_and_on_veth_one_at_its_rate():
    """Sending costs 10 + 45 of 100 Mbit/s: 5.5 of 10 Gbit/s. In slow motion both are a tenth."""
    given = "{6: {idle-slope: 10 Mbit/s, send-slope: -45 Mbit/s, hi-credit: 1 kbit, lo-credit: -99 octets}}"
    document = document_of(STAR.replace("SHAPER", f"{{queues: {{classes: {{6: 1, 0: 0}}}}, cbs: {given}}}"))
    number = port_of(document, "switch -> robot")

    def shaped(lines):
        (line,) = [line for line in lines if " cbs " in line]
        return line.partition(" cbs ")[2]

    told = "idleslope 10000 sendslope -45000 hicredit 125 locredit -99 offload 0"
    assert shaped(tsnport_port(document, number)) == told
    veth = "hicredit 125 locredit -10000 offload 0"
    assert shaped(veth_port(document, number)) == f"idleslope 10000 sendslope -5490000 {veth}"
    assert shaped(veth_port(document, number, 10)) == f"idleslope 1000 sendslope -5499000 {veth}"


def test_below_gates_a_limit_counts_the_octets_that_the_queue_sees():
    text = STAR.replace("SHAPER", GATES.replace("0: 0}", "0: 0}, limit-octets: 64 kB"))
    document = document_of(text)
    number = port_of(document, "switch -> robot")
    lines = [line for line in tsnport_port(document, number) if " bfifo " in line]
    assert lines
    assert not any("stab" in line for line in lines)
    longest = {stream["pcp"]: stream["size"]["octets"] for stream in document["streams"]}
    # The limit is the number of longest frames that the Plan lets wait: FCS and tag are not counted.
    for line, pcp in zip(lines, (0, 6), strict=True):
        count = 64_000 // longest[pcp]
        limit = int(line.rpartition(" ")[2])
        assert count * (longest[pcp] - 8) <= limit < (count + 1) * (longest[pcp] - 8)


def test_below_taprio_linux_takes_no_size_table():
    gates = "gates: {cycle: 1 ms, entries: [{open: [6], for: 500 us}, {open: [0], for: 500 us}]}"
    shaper = f"{{queues: {{classes: {{6: 1, 0: 0}}}}, cbs: {{6: 10 Mbit/s}}, {gates}}}"
    document = document_of(STAR.replace("SHAPER", shaper))
    number = port_of(document, "switch -> robot")
    lines = tsnport_port(document, number)
    assert any(" cbs " in line for line in lines)
    assert not any("stab" in line for line in lines)
    assert TSNPORT.notes(document) == [
        "switch -> robot: Linux's cbs below taprio counts frames without preamble, FCS and gap "
        "(24 octets each), so the class may send that much more than it reserved"
    ]
    port = document["ports"][number]
    classes = [one | {"limit_octets": 64_000} for one in port["classes"] if not one.get("cbs")]
    own = port | {"classes": classes, "pcp_to_class": [0] * 8}
    whole = document | {"ports": [*document["ports"][:number], own, *document["ports"][number + 1 :]]}
    assert not any("limit_octets" in line for line in unsupported(whole, TSNPORT))


def test_more_can_be_run_than_on_veth():
    document = document_of(HOST)
    assert unsupported(document, TSNPORT) == []
    assert any("qdisc" in line for line in unsupported(document, VETH))
    socket = document | {"streams": [document["streams"][0] | {"socket": {"txtime": True}}]}
    assert any("stream loop: SO_TXTIME" in line for line in unsupported(socket, TSNPORT))
    both = STAR.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}, preemption: {express: [6]}}")
    assert "port switch -> robot: preemption" in unsupported(document_of(both), TSNPORT)


def test_a_queue_has_the_limit_that_is_reached_first():
    document = document_of(STAR.replace("SHAPER", "{}"))
    number = port_of(document, "switch -> robot")

    def limits(**own: int) -> list[str]:
        port = document["ports"][number] | {"classes": [own], "pcp_to_class": [0] * 8}
        plan = document | {"ports": [*document["ports"][:number], port, *document["ports"][number + 1 :]]}
        return [*tsnport_port(plan, number)[1:], *unsupported(plan, TSNPORT)]

    assert limits()[0].endswith(" pfifo limit 100000")
    assert limits(limit_frames=7)[0].endswith(" pfifo limit 7")
    both = limits(limit_frames=1000, limit_octets=64_000)
    # The check sequence counts, and so does the tag that is carried beside the frame.
    assert both[0].endswith(" stab overhead 8 linklayer ethernet bfifo limit 64000")
    assert len(both) == 1
    assert "reached first" in limits(limit_frames=10, limit_octets=64_000)[-1]


def test_filters_that_no_kernel_has_are_unsupported():
    text = (
        STAR.replace("SHAPER", "{}")
        + """
policing:
  - at: controller -> switch
    streams: [loop]
    gate: {cycle: 2 ms, entries: [{for: 1 ms, ipv: 3}, {open: false, for: 1 ms}]}
"""
    )
    found = unsupported(document_of(text), TSNPORT)
    assert len(found) == 1
    assert "internal priority values" in found[0]
    assert unsupported(document_of(text.replace(", ipv: 3", "")), TSNPORT) == []


def test_a_job_is_a_shell_script():
    for text in (STAR.replace("SHAPER", GATES), HOST):
        script = script_of(plan_of(text), TSNPORT)
        understood(script)
        # All links are up before the first qdisc is configured.
        lines = script.splitlines()
        up = max(n for n, line in enumerate(lines) if line.startswith("link set p") and line.endswith(" up"))
        assert up < min(n for n, line in enumerate(lines) if line.endswith(" tc <<END"))


def test_headers_are_those_of_the_kernel():
    assert device.packages("6.12.117+deb12-amd64") == [
        "linux-headers-6.12.117+deb12-amd64",
        "linux-headers-6.12.117+deb12-common",
        "linux-kbuild-6.12.117+deb12",
    ]
    for release, why in (("6.12.1", "not Debian's"), ("6.1.0-40-amd64", "needs Linux 6.12")):
        with pytest.raises(BackendError, match=why):
            device.packages(release)


def test_a_kernel_that_reports_no_configuration_is_an_error():
    document = document_of(HOST)
    with pytest.raises(BackendError, match="a -> b: p0: the root: requested taprio, found nothing"):
        TSNPORT.read_back(document, Returned({"epoch": b"7\n"}), "the kernel", Capabilities())

"""Mistakes that people make who know other tools: one message each, with a correction to copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.problems import checked_scenarios
from tsnbench.scenario import ScenarioErrors, load_variants

BASE = """\
name: example
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [sw1, sw2]
  links: {rate: 1 Gbit/s, between: [a - sw1, sw1 - sw2, sw2 - b, sw2 - c]}
streams:
  x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 6, requires: {delay: 200 us}}
"""
WRITTEN = [
    ("10 ms", "10 msec", "a duration with a unit", "write 10ms"),
    ("duration: 10 ms", "runtime: 10 ms", "a key of a scenario", "did you mean duration?"),
    ("duration: 10 ms", "duration: 10 ms\nwarmup: 1 ms", "a key of a scenario", "did you mean measure-from?"),
    ("network:", "topology:", "a key of a scenario", "did you mean network?"),
    ("streams:", "flows:", "a key of a scenario", "did you mean streams?"),
    ("1 Gbit/s", "1Gb", "a rate with a unit", "write 1Gbit/s"),
    ("1 Gbit/s", "100M", "a rate with a unit", "write 100Mbit/s"),
    ("rate: 1 Gbit/s", "speed: 1 Gbit/s", "a key of links", "did you mean rate?"),
    ("rate: 1 Gbit/s", "rate: 1 Gbit/s, delay: 5 ns", "a key of links",
     "write cable: 100 m, which takes 5 ns per metre"),
    ("a - sw1", "a <-> sw1", "two nodes such as node1 -- node2", "a link goes both ways: write a -- sw1"),
    ("a - sw1", "[a, sw1]", "two nodes such as node1 -- node2", "write a -- sw1"),
    ("bridges: [sw1, sw2]", "bridges: sw1 sw2", "the name of a node, or a list of names", "write [sw1, sw2]"),
    ("bridges:", "switches:", "a key of the network", "did you mean bridges?"),
    ("100 B", "800 bit", "a size with a unit", "write 100 B"),
    ("100 B", "100 bytes", "a size with a unit", "write 100B"),
    ("period: 1 ms", "period: 1 kHz", "a duration with a unit", "write 1 ms"),
    ("period: 1 ms", "frequency: 1 kHz", "a key of a stream", "write the period: 1 ms for 1 kHz"),
    ("period: 1 ms", "interval: 1 ms", "a key of a stream", "did you mean period?"),
    ("period: 1 ms", "period: '{{p}}'", "a duration with a unit", "write it like 250us; units are "
     "ns, us, ms, s, min, h"),
    ("pcp: 6", "traffic-class: 6", "a key of a stream", "did you mean pcp?"),
    ("pcp: 6", "class: sr-a", "an SR class", "known: sr/A, sr/B, sr/C, sr/D, sr/BE"),
    ("from: a", "talker: a", "a key of a stream", "did you mean from?"),
    ("to: b", "to: b, c", "a key of a stream", "write to: [b, c]"),
    ("to: b", "to: b c", "a node of the network", "write [b, c]"),
    ("{delay: 200 us}", "200 us", "limits, or the name of an SR class", "write requires: {delay: 200 us}"),
    ("requires: {delay: 200 us}", "deadline: 200 us", "a key of a stream", "write requires: {delay: 200 us}"),
    ("requires: {delay: 200 us}", "loss: 1 %", "a key of a stream", "write requires: {loss: 1 %}"),
    ("{delay: 200 us}", "{latency: 200 us}", "a key of requirements", "did you mean delay?"),
    ("10 ms", "0.01", "a duration with a unit", "write 10 ms for 0.01 s"),
    ("10 ms", "1 day", "a duration with a unit", "write 24 h"),
    ("duration: 10 ms", "sim-time-limit: 10 ms", "a key of a scenario", "did you mean duration?"),
    ("duration: 10 ms", "duration: 10 ms\nrepeat: 5", "a key of a scenario",
     "a study repeats runs: tsnbench study run --help"),
    ("name: example", "name: my example", "a name",
     "write my-example: a name starts with a letter; then letters, digits and _ . + - follow, 64 at most"),
    ("name: example", "name: example\ntitle: @home", "a value",
     "put quotes around a text that begins with @"),
    ("name: example", "name: example\ndefaults: {period: 1 ms}", "a key of a scenario",
     "write a value once, where it is first used: period: &name 1 ms, then period: *name"),
    ("[a, b, c]", "[a, b, c],", "the end of the value", "no list is open here: leave the , out"),
    ("[a, b, c]", "3", "the name of a node, or a list of names", "write the names: [node1, node2]"),
    ("[a, b, c]", "[a, b, front camera]", "the name of a node",
     "write front-camera: a name starts with a letter; then letters, digits and _ . + - follow, 64 at most"),
    ("[a, b, c]", "[a, b, {name: c}]", "the name of a node", "write c"),
    ("[a, b, c]", "\n    - a\n    - b\n    -c", "an item of the list",
     "write - c, with a space after the dash"),
    ("stations:", "ecus:", "a key of the network", "did you mean stations?"),
    ("bridges: [sw1, sw2]", "bridges: {sw1: {latency: 2 us}, sw2: {}}", "a key of a node's options",
     "did you mean processing?"),
    ("bridges: [sw1, sw2]", "bridges: {sw1: {ports: 4}, sw2: {}}", "a key of a node's options",
     "leave it out: a node has one port for each of its links"),
    ("1 Gbit/s", "1e9", "a rate with a unit", "write 1 Gbit/s for 1e9 bit/s"),
    ("1 Gbit/s", "1000BASE-T1", "a rate with a unit", "write 1000 Mbit/s for 1000BASE-T1"),
    ("1 Gbit/s", "1 Gbps full-duplex", "a rate with a unit", "write 1 Gbit/s"),
    ("rate: 1 Gbit/s", "rate: 1 Gbit/s, cable: 30 ft", "a length with a unit", "write 9144 mm"),
    ("rate: 1 Gbit/s", "rate: 1 Gbit/s, duplex: full", "a key of links",
     "leave it out: every link is full duplex"),
    ("rate: 1 Gbit/s", "rate: 1 Gbit/s, loss: 0.1 %", "a key of links",
     "write faults: [{loss: 1 %, on: node1 -> node2}] beside network"),
    ("between:", "connections:", "a key of links", "did you mean between?"),
    ("a - sw1", "a.eth0 - sw1.eth1", "two nodes such as node1 -- node2",
     "write a -- sw1: each link makes its own two ports"),
    ("a - sw1", "a - sw1 - sw2", "two nodes such as node1 -- node2",
     "write each link alone: a -- sw1, sw1 -- sw2"),
    ("a - sw1", "{from: a, to: sw1}", "two nodes such as node1 -- node2", "write a -- sw1"),
    ("[a - sw1, sw1 - sw2, sw2 - b, sw2 - c]", "a - sw1; sw1 - sw2", "two nodes such as node1 -- node2",
     "write [a -- sw1, sw1 -- sw2]"),
    ("links: {rate: 1 Gbit/s, between: [", "links: [", "the end of the value",
     "no { is open here: leave the } out"),
    ("streams:\n  x: {", "streams:\n  - {name: x, ", "streams by name",
     "write x: {…} for each of them, without the dash"),
    ("streams:\n  x: {", "streams: {", "streams by name", "write streams: {name: {from: a}}"),
    ("streams:\n  x:", "streams:\n  front left:", "a name",
     "write front-left: a name starts with a letter; then letters, digits and _ . + - follow, 64 at most"),
    ("x: {from: a, to: b, payload: 100 B, ", "x:\n  from: a\n  to: b\n  payload: 100 B\n  #",
     "a stream below its name", "begin from and the keys after it further to the right than x"),
    ("from: a, ", "from: a ", '"," or "}"', "write a comma before to, or close the mapping {"),
    ("from: a", "from = a", "a key of a stream", "write from: a, with a colon in place of the ="),
    ("to: b", "to: all", "a node of the network", "write the listeners: to: [a, b, c] without the talker"),
    ("to: b", "to: b, via: sw1 -> sw2", "a node of the network", "write [sw1, sw2]"),
    ("to: b", "to: b, redundancy: 2", "a key of a stream", "write frer: {disjoint: 2}"),
    ("to: b", "to: b, name: brake", "a key of a stream", "leave it out: the key of the stream is its name"),
    ("to: b", "to: b, scheduled: true, release: 2 ms", "a window of release as keys and values",
     "write release: {earliest: 100 us, latest: 200 us}"),
    ("payload: 100 B", "packetLength: 100 B", "a key of a stream", "did you mean payload?"),
    ("payload: 100 B", "burst-size: 3", "a key of a stream", "write arrivals: {burst: 1 kB, rate: 1 Mbit/s}"),
    ("period: 1 ms", "productionInterval: 1 ms", "a key of a stream", "did you mean period?"),
    ("period: 1 ms", "period: 48 kHz", "a duration with a unit",
     "write 20833ns or 20834ns: 48 kHz is no whole number of ns"),
    ("period: 1 ms", "period: 1 ms, phase: 100 us", "a key of a stream", "did you mean offset?"),
    ("period: 1 ms", "period: every 1 ms", "a duration with a unit", "write 1 ms"),
    ("pcp: 6", "cos: 6", "a key of a stream", "did you mean pcp?"),
    ("pcp: 6", "pcp: 6.0", "a priority code point from 0 to 7", "write 6"),
    ("pcp: 6", "pcp: TC6", "a priority code point from 0 to 7", "write 6"),
    ("{delay: 200 us}", "{delay: < 200 us}", "a duration with a unit", "write 200 us"),
    ("{delay: 200 us}", "{p99: 200 us}", "a key of requirements", "write delay p99: 200 us"),
    ("{delay: 200 us}", "{loss: none}", "a share with a unit", "write 0"),
    ("{delay: 200 us}", "{availability: 99.99 %}", "a key of requirements",
     "write the greatest share of lost frames: loss: 0.01 %"),
    ("{delay: 200 us}", "delay 200 us", "limits, or the name of an SR class",
     "write requires: {delay: 200 us}"),
    ("requires: {delay: 200 us}", "maxLatency: 200 us", "a key of a stream",
     "write requires: {delay: 200 us}"),
    ("to: b", "to: b, protocol: SOME/IP", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, someip: {service: 0x1234, instance: 1}", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, vlan: 0x64", "a VLAN identifier from 1 to 4094, or none", "write 100"),
    ("to: b", "to: b, asil: D", "a key of a stream",
     "leave it out: pcp is the priority, and requires: {delay: 2 ms, loss: 0} the limits"),
    ("to: b", "to: b, can-id: 0x123", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, mac: 01:00:5e:00:00:01", "a key of a stream",
     "leave it out: each stream gets an address"),
    ("payload: 100 B", "signals: [speed, torque]", "a key of a stream",
     "write the octets of one data unit: payload: 192 B"),
    ("payload: 100 B", "dlc: 8", "a key of a stream", "write payload: 8 B"),
    ("payload: 100 B", "payload: 8", "a size with a unit", "write 8B"),
    ("1 Gbit/s", "10BASE-T1S", "a rate with a unit", "write 10 Mbit/s for 10BASE-T1S"),
    ("1 Gbit/s", "100 Mbit/s half duplex", "a rate with a unit", "write 100 Mbit/s"),
    ("stations: [a, b, c]", "stations: [a, b, c]\n  gateways: [gw]", "a key of the network",
     "did you mean hosts? They are end stations and bridges"),
    ("stations: [a, b, c]", "stations: [a, b, c]\n  buses: [can1]", "a key of the network",
     "leave it out: links are full-duplex Ethernet"),
    ("stations: [a, b, c]", "stations: {a: {vlan: 10}, b: {}, c: {}}", "a key of a node's options",
     "leave it out: streams have vlan: 10, and all ports are members"),
    ("requires: {delay: 200 us}", "requires: {e2e: 200 us}", "a key of requirements", "did you mean delay?"),
    ("requires: {delay: 200 us}", "e2e-latency: 200 us", "a key of a stream",
     "write requires: {delay: 200 us}"),
    ("period: 1 ms", "debounce: 10 ms", "a key of a stream",
     "write arrivals: {burst: 1 kB, rate: 1 Mbit/s} for events, or poisson: 1 Mbit/s"),
    ("period: 1 ms", "event: true", "a key of a stream",
     "write arrivals: {burst: 1 kB, rate: 1 Mbit/s} for events, or poisson: 1 Mbit/s"),
    ("period: 1 ms", "cycle-time: 10", "a key of a stream", "did you mean period?"),
    ("period: 1 ms", "period: exponential(100us)", "a duration with a unit",
     "write poisson: {mean-interval: 100us} in place of period"),
    ("period: 1 ms", "period: uniform(1ms, 2ms)", "a duration with a unit",
     "write 1ms, and jitter: 100 us for releases that are late at random"),
    ("period: 1 ms", "period: 2 * 1 ms", "a duration with a unit", "write 2 ms"),
    ("payload: 100 B", "packetLength: 1000B - 58B", "a key of a stream", "did you mean payload?"),
    ("payload: 100 B", "payload: intuniform(64B,1500B)", "a size with a unit",
     "write units: [64B, 1400 B] in place of it, or one size"),
    ("period: 1 ms", "initialProductionOffset: 100us, period: 1 ms", "a key of a stream",
     "did you mean offset?"),
    ("period: 1 ms", "period: ${p=1ms,2ms}", "a duration with a unit",
     "write [1ms, …], a list: one run for each value"),
    ("to: b", "destAddress: b", "a key of a stream", "did you mean to?"),
    ("to: b", "to: b, destPort: 1000", "a key of a stream", "did you mean udp-port?"),
    ("to: b", "to: b, app: UdpSourceApp", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("a - sw1", "a.ethg++ <--> Eth1G <--> sw1.ethg++", "two nodes such as node1 -- node2",
     "a link goes both ways: write a -- sw1"),
    ("stations: [a, b, c]", "submodules: [a, b, c]", "a key of the network",
     "write stations: [node1, node2] and bridges: [dut]"),
    ("bridges: [sw1, sw2]", "TsnSwitch: [sw1, sw2]", "a key of the network", "did you mean bridges?"),
    ("streams:\n", "[General]\nstreams:\n", "a colon after a key",
     "this looks like an .ini file: a scenario is YAML, key: value"),
    ("streams:\n", "// streams\nstreams:\n", "a colon after a key", "a comment begins with #"),
    ("streams:\n", "/* streams */\nstreams:\n", "a colon after a key", "a comment begins with #"),
    ("streams:\n  x:", "streams: streams.csv\n#", "streams by name", "write streams: {table: streams.csv}"),
    ("payload: 100 B", "channels: 8, bit-depth: 24", "a key of a stream",
     "write the octets of one data unit: payload: 192 B"),
    ("pcp: 6", "class: SR/A", "an SR class", "did you mean sr/A?"),
    ("pcp: 6", "sr-class: A", "a key of a stream", "did you mean class?"),
    ("to: b", "listeners: {b: {}, c: {}}", "a key of a stream", "did you mean to?"),
    ("to: b", "to: b, max-interval-frames: 1", "a key of a stream",
     "write count: 1, for as many frames in each period"),
    ("to: b", "to: b, presentation-time: 2 ms", "a key of a stream", "write requires: {delay: 2 ms}"),
    ("to: b", "to: b, format: AAF", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("requires: {delay: 200 us}", "max-transit-time: 2 ms", "a key of a stream",
     "write requires: {delay: 2 ms}"),
    ("requires: {delay: 200 us}", "latency: 2 ms", "a key of a stream", "write requires: {delay: 2 ms}"),
    ("period: 1 ms", "send-clock: 32, reduction-ratio: 4", "a key of a stream",
     "write period: 1 ms, which is 31.25 us times send clock factor (32) times reduction ratio (1)"),
    ("period: 1 ms", "cycle: 31.25 us", "a key of a stream", "did you mean period?"),
    ("period: 1 ms", "period: 31.25 us, watchdog: 3", "a key of a stream",
     "write requires: {age: 3 ms}, the highest age of data at the listener"),
    ("to: b", "to: b, protocol: profinet", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, ethertype: 0x8892", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, opcua: true", "a key of a stream",
     "leave it out: frames have the size of payload or frame, and test data in place of a protocol"),
    ("to: b", "to: b, comid: 1000", "a key of a stream", "write trdp: {com-id: 1000, data-set: 64 B}"),
    ("to: b", "to: b, trdp: 1000", "a TRDP telegram as keys and values",
     "write trdp: {key: value, …} with keys such as com-id, data-set, pattern, qos, header, time-out"),
    ("streams:\n", "rings: [sw1, sw2]\nstreams:\n", "a key of a scenario",
     "write it under network: ring: {nodes: 4}"),
    ("stations: [a, b, c]", "ring: [a, b, c]", "a ring as keys and values",
     "write {nodes: 8}, or links: {between: [node1 -- node2]} of your nodes"),
    ("stations: [a, b, c]", "line: 5", "a line",
     "write line: {nodes: 5}, or links: {between: [node1 -- node2]} of your nodes"),
    ("stations: [a, b, c]", "topology: ring", "a key of the network",
     "write ring: {nodes: 4}; there are line, star, mesh, grid and tree, too"),
    ("period: 1 ms", "period: 0x100 us", "a duration with a unit", "write 256 us"),
    ("period: 1 ms", "period: 1_000 us", "a duration with a unit", "write 1000 us"),
    ("period: 1 ms", "period: 1'000 us", "a duration with a unit", "write 1000 us"),
    ("period: 1 ms", "period: {value: 1, unit: ms}", "a duration with a unit", "write one value: 1 ms"),
    ("period: 1 ms", "period: 1 ms ± 10 us", "a duration with a unit", "write 1 ms"),
    ("period: 1 ms", "period: 1ms/10us", "a duration with a unit",
     "write it like 250us; units are ns, us, ms, s, min, h"),
    ("period: 1 ms", "period: null", "a duration with a unit", "write a value, or leave period out"),
    ("period: 1 ms", "period: ~", "a duration with a unit", "write a value, or leave period out"),
    ("period: 1 ms", "period:", "a key of a stream", "write period: , with a space after the colon"),
    ("period: 1 ms", "period: .5 ms", "a duration with a unit", "write 0.5 ms"),
    ("period: 1 ms", "period: 1. ms", "a duration with a unit", "write 1 ms"),
    ("period: 1 ms", "period: 1 MS", "a duration with a unit", "write 1ms"),
    ("period: 1 ms", "period: 1 µsec", "a duration with a unit", "write 1us"),
    ("period: 1 ms", "period: 1000µ", "a duration with a unit", "write 1000us"),
    ("1 Gbit/s", "1 Gbit", "a rate with a unit", "write 1Gbit/s"),
    ("1 Gbit/s", "1,000 Mbit/s", "a rate with a unit", "write 1.000 Mbit/s, or 1000 Mbit/s"),
    ("1 Gbit/s", "1 Gigabit/s", "a rate with a unit", "write 1Gbit/s"),
    ("1 Gbit/s", "gigabit", "a rate with a unit", "write 1 Gbit/s"),
    ("1 Gbit/s", "1000 MBit/s", "a rate with a unit", "write 1000Mbit/s"),
    ("1 Gbit/s", "1.000.000.000 bit/s", "a rate with a unit", "write 1000000000 bit/s"),
    ("100 B", "100 Byte", "a size with a unit", "write 100B"),
    ("100 B", "0x64 B", "a size with a unit", "write 100 B"),
    ("100 B", "1 KB", "a size with a unit", "write 1kB"),
    ("100 B", "100.5 B", "a whole number of B", "write 100B or 101B"),
    ("100 B", "min", "a size with a unit", "write it like 250B; units are B, octets, kB, MB, KiB, MiB"),
    ("100 B", "10 ms * 1 Mbit/s", "a size with a unit",
     "write it like 250B; units are B, octets, kB, MB, KiB, MiB"),
    ("{delay: 200 us}", "{delay: <=200us}", "a duration with a unit", "write 200 us"),
    ("{delay: 200 us}", "{delay: 200us max}", "a duration with a unit", "write 200 us"),
    ("{delay: 200 us}", "{delay: p99 < 200 us}", "a duration with a unit",
     "write delay p99: 200 us, which is a key of its own"),
    ("{delay: 200 us}", "{loss: 1e-6}", "a share with a unit", "write 1 ppm"),
    ("{delay: 200 us}", "{loss: 1/1000}", "a share with a unit", "write 1000 ppm"),
    ("{delay: 200 us}", "{loss: 10^-6}", "a share with a unit", "write 1 ppm"),
    ("{delay: 200 us}", "{reliability: 0.99999}", "a key of requirements", "did you mean loss?"),
    ("{delay: 200 us}", "{delay: 200 us, probability: 99 %}", "a key of requirements",
     "write delay p99: 200 us for 99 %"),
    ("{delay: 200 us}", "{throughput: 1 Mbit/s}", "a key of requirements", "did you mean rate?"),
    ("{delay: 200 us}", "{p99.9: 200 us}", "a key of requirements", "did you mean delay p99.9?"),
    ("{delay: 200 us}", "{mean: 100 us}", "a key of requirements",
     "write delay p50: 100 us, which half of all frames keep"),
]  # fmt: skip
"""What is replaced, by what, and the expected value and the hint of the message."""
PORT = "shapers: {sw1 -> sw2: "
ADDED = [
    (PORT + "{tas: {entries: [{open: 6, for: 1 ms}]}}}", "a key of a shaper", "did you mean gates?"),
    (PORT + "{gates: {entries: [[[6], 1 ms]]}}}", "a gate entry as keys and values",
     "write {open: …, for: …}"),
    (PORT + "{gates: {entries: [{open: 0x41, for: 1 ms}]}}}",
     "PCPs whose gates are open: [6, 5], all or none", "write [6, 0]"),
    (PORT + "{gates: {entries: [{open: 0b01000001, for: 1 ms}]}}}",
     "PCPs whose gates are open: [6, 5], all or none", "write [6, 0]"),
    (PORT + "{cbs: 10 Mbit/s}}",
     "from-streams, a list of SR classes, or a mapping of classes to bandwidth",
     "write {A: 100 Mbit/s, B: {idle-slope: 75 Mbit/s}}, highest class first"),
    ("policing: [{at: a -> sw1, streams: x, rate: 10 Mbit/s}]", "a key of a filter",
     "write meter: {cir: 10 Mbit/s, cbs: 2 kB}"),
    ("faults: [{on: a -> sw1, loss: 0.1}]", "a share with a unit", "write 10% or 0.1%"),
    ("clocks: {gptp: {master: a}}", "a key of gPTP", "did you mean grandmaster?"),
    ("shaper: {all: {cbs: {6: 10 Mbit/s}}}", "a key of a scenario", "did you mean shapers?"),
    ("schedule: true", "how scheduled streams are planned as keys and values",
     "write schedule: {margin: 500 ns}"),
    ("shapers: {all: {gates: [{open: [6], for: 1 ms}]}}", "one value per run",
     "write gates: {entries: [{open: …, for: …}]}"),
    ("shapers: {cbs: from-streams}", "ports and what shapes them",
     "write shapers: {all: {cbs: from-streams}}"),
    ("shapers: {sw1 -> sw2: {cbs: {idleslope: 98688, sendslope: -901312, hicredit: 153, locredit: -1389}}}",
     "a mapping of classes to bandwidth", "write cbs: {6: {idle-slope: 98688}}"),
    ("shapers: {sw1 -> sw2: {cbs: {6: 75 %}}}", "a rate with a unit",
     "write a rate such as 250Mbit/s, in place of 75 % of the rate of the link"),
    ("shapers: {all: {cbs: auto}}", "from-streams", "write from-streams"),
    ("shapers: {all: {qbv: {entries: []}}}", "a key of a shaper", "did you mean gates?"),
    ("shapers: {all: {gates: auto}}", "the name of a catalogue gate list",
     "known: plan, flextest/gcl-1, flextest/gcl-2, flextest/gcl-3, flextest/gcl-4"),
    ("shapers: {sw1 -> sw2: {gates: {entries: [{open: oCCCCCCC, for: 1 ms}]}}}",
     "PCPs whose gates are open: [6, 5], all or none", "write [7]"),
    ("shapers: {sw1 -> sw2: {gates: {entries: [{open: [6], for: 1 ms}, S 01 40000]}}}",
     "a gate entry as keys and values", "write {open: [6], for: 40 us}"),
    ("shapers: {sw1 -> sw2: {gates: {entries: [{open: [6], from: 0 us, to: 40 us}]}}}",
     "a key of a gate entry", "write for: 40 us, its length; each entry begins where the one before it ends"),
    ("shapers: {sw1 -> sw2: {gates: {entries: {6: 500 us, 0: 500 us}}}}", "a gate entry, or a list",
     "write entries: [{open: [6, 5], for: 45 us}], without names"),
    ("shapers: {sw1 -> sw2: {gates: {entries: [{open: all, for: 30 %}]}}}", "a duration with a unit",
     "write a duration such as 250us, in place of 30 % of the cycle"),
    ("shapers: {sw1 -> sw2: {gates: {offset: 1 ms, entries: [{open: all, for: 1 ms}]}}}",
     "a key of a gate control list", "did you mean base-time?"),
    ("shapers: {sw1 -> sw2: {queues: 8}}", "queue settings as keys and values",
     "write queues: {classes: {6: 1, 0: 0}}"),
    ("shapers: {sw1 -> sw2: {queues: {classes: [0, 1, 2]}}}",
     "a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8",
     "write {6: 1, 0: 0}: a PCP, and its traffic class"),
    ("shapers: {sw1 -> sw2: {preemption: {preemptable: [0]}}}", "a key of frame pre-emption",
     "write express: [7]; all other PCPs are preemptable"),
    ("preemption: {express: [6]}", "a key of a scenario", "write it under its ports: shapers: {all: {…}}"),
    ("gptp: {grandmaster: sw1}", "a key of a scenario", "write clocks: {gptp: {grandmaster: node1}}"),
    ("clocks: {gptp: {grandmaster: sw1, sync-interval: -3}}", "a duration with a unit",
     "write 125 ms for the logarithm -3"),
    ("clocks: {a: 50 ppm}", "a clock as keys and values", "write a: {drift: 20 ppm}"),
    ("faults: [sw1 -- sw2]", "a fault as keys and values", "write {down: sw1 -- sw2, at: 5 ms}"),
    ("faults: [{ber: 1e-9, on: a -> sw1}]", "a key of a fault", "did you mean bit-errors?"),
    ("policing: {x: {cir: 10 Mbit/s}}", "a filter, or a list",
     "write policing: [{at: cam -> sw1}], without names"),
    ("requirements: {delay: 1 ms}", "a key of requirements of all streams",
     "write it in each stream: requires: {delay: 1 ms}"),
    ("shapers: {sw1 -> sw2: {transmissionGate: {durations: [4ms, 6ms]}}}", "a key of a shaper",
     "did you mean gates?"),
    ("shapers: {sw1 -> sw2: {scheduler: StrictPriority}}", "a key of a shaper",
     "leave it out: classes have strict priority, and queues: {classes: {6: 1, 0: 0}} names them"),
    ("shapers: {sw1 -> sw2: {wfq: {6: 50 %}}}", "a key of a shaper",
     "write cbs: {6: 10 Mbit/s} or ats: {pcp: [6]}: ports have no weights, and strict priority decides"),
    ("shapers: {sw1 -> sw2: {tbf: {rate: 10 Mbit/s}}}", "a key of a shaper",
     "write cbs: {6: 10 Mbit/s} or ats: {pcp: [6]}: ports have no weights, and strict priority decides"),
    ("schedule: {scheduler: Z3}", "a key of how scheduled streams are planned", "did you mean engine?"),
    ("schedule: {type: Eager}", "a key of how scheduled streams are planned", "did you mean engine?"),
    ("schedule: {engine: ortools}", "an engine: heuristic, exact or both", "write exact"),
    ("schedule: {optimize: delay}", "a key of how scheduled streams are planned", "did you mean objective?"),
    ("msrp: {a: 10 Mbit/s}", "a key of a scenario",
     "write shapers: {all: {cbs: from-streams}}, and class: sr/A in streams"),
    ("avb: true", "a key of a scenario",
     "write shapers: {all: {cbs: from-streams}}, and class: sr/A in streams"),
    ("shapers: {all: {cbs: {SR-A: 75 Mbit/s}}}", "an SR class (A, B, C, D) or a PCP from 0 to 7",
     "write {A: 100 Mbit/s, B: {idle-slope: 75 Mbit/s}}, highest class first"),
    ("shapers: {all: {cbs: {A: 75 %}}}", "a rate with a unit",
     "write a rate such as 250Mbit/s, in place of 75 % of the rate of the link"),
    ("clocks: {media-clock: 48 kHz}", "a clock as keys and values", "write media-clock: {drift: 20 ppm}"),
    ("clocks: {gptp: {grandmaster: a, domain: 0}}", "a key of gPTP", "leave it out: there is one domain"),
]  # fmt: skip
"""A section that is added, and the expected value and the hint of the message."""
TABLES = [
    ("stream,from,to,payload (B),period (us)\nq,a,b,100,100", "a key of a stream", "did you mean name?"),
    ("name,from,to,payload_b,period (us)\nq,a,b,100,100", "a key of a stream", "write payload (B)"),
    ("name,from,to,payload (B),period_us\nq,a,b,100,100", "a key of a stream", "write period (us)"),
    ("q,a,b,100,100\nr,a,b,100,100", "a header with names of columns",
     "write a first row with name and keys, such as: name, from, to"),
    ("name,from,to,payload (B),period (us)", "a row for each stream", "add rows below the header"),
    ("name,from,to,payload (B),period (us)\nq,a,b,100,0,5", "5 cells, as the header has", ""),
    ("name,from,to,payload (B),period (us)\nq,a,b,100", "5 cells, as the header has", ""),
    ("Name,From,To,Payload (B),Period (us)\nq,a,b,100,100", "headers in small letters",
     "write name, from, to, payload, period"),
]  # fmt: skip
"""The table of streams, and the expected value and the hint of the message."""


FILES = {
    # Name and content of the file that is checked: the expected value, what was found, and the hint.
    ("omnetpp.ini", b"# INET\n[General]\nnetwork = TsnLinearNetwork\nsim-time-limit = 1s\n"): (
        "a scenario in YAML", "an .ini file", "tsnbench init small writes a scenario to begin with"
    ),
    ("omnetpp.yaml", b'*.client.app[*].typename = "UdpSourceApp"\n'): (
        "a scenario in YAML", "an .ini file", "tsnbench init small writes a scenario to begin with"
    ),
    ("net.ned", b"// a line\npackage x;\nnetwork N\n{\n    submodules:\n        a: TsnDevice;\n}\n"): (
        "a scenario in YAML", "a .ned file", "tsnbench init small writes a scenario to begin with"
    ),
    ("model.arxml", b'<?xml version="1.0"?>\n<AUTOSAR>\n</AUTOSAR>\n'): (
        "a scenario in YAML", "XML", "tsnbench init small writes a scenario to begin with"
    ),
    ("streams.csv", b"name,from,to,period (us)\nq,a,b,100\n"): (
        "a scenario in YAML", "a table", "name it in a scenario: streams: {table: streams.csv}"
    ),
    ("c.pcap", b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00"): (
        "a scenario in YAML", "a file that is no text", "captures are read by tsnbench measure"
    ),
    ("s.yaml", BASE.encode("utf-16")): ("text in UTF-8", "the byte 0xff", "save the file as UTF-8"),
}  # fmt: skip


def the_one_message(text: str, file: Path) -> tuple[str, str]:
    answer, _ = checked_scenarios(text, str(file))
    (only,) = answer["problems"]
    assert only["code"].startswith("TSN")
    assert answer["warnings"] == []
    return only["expected"], only["hint"]


@pytest.mark.parametrize(("before", "after", "expected", "hint"), WRITTEN, ids=[one[1] for one in WRITTEN])
def test_a_wrong_word(before: str, after: str, expected: str, hint: str, tmp_path: Path) -> None:
    assert before in BASE
    assert the_one_message(BASE.replace(before, after, 1), tmp_path / "s.yaml") == (expected, hint)


@pytest.mark.parametrize(("added", "expected", "hint"), ADDED, ids=[one[0] for one in ADDED])
def test_a_wrong_section(added: str, expected: str, hint: str, tmp_path: Path) -> None:
    assert the_one_message(f"{BASE}{added}\n", tmp_path / "s.yaml") == (expected, hint)


@pytest.mark.parametrize(("table", "expected", "hint"), TABLES, ids=[one[0].split("\n")[0] for one in TABLES])
def test_a_wrong_table(table: str, expected: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{table}\n", encoding="utf-8")
    text = f"{BASE[: BASE.index('  x:')]}  table: t.csv\n"
    assert the_one_message(text, tmp_path / "s.yaml") == (expected, hint)


@pytest.mark.parametrize(("file", "said"), FILES.items(), ids=[name for name, _ in FILES])
def test_a_file_of_another_kind(file: tuple[str, bytes], said: tuple[str, str, str], tmp_path: Path) -> None:
    path = tmp_path / file[0]
    path.write_bytes(file[1])
    assert the_file_is_refused(path) == said


@pytest.mark.parametrize("name", ["zonal", "zonal.yml", "zonl.yaml"])
def test_a_file_that_does_not_exist_has_a_name_almost_like_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "zonal.yaml").write_text(BASE, encoding="utf-8")
    hint = f"did you mean {tmp_path}/zonal.yaml?"
    assert the_file_is_refused(tmp_path / name) == ("a scenario file", "no such file", hint)
    assert the_file_is_refused(tmp_path / "other.yaml")[2] == "check the path"


def test_a_folder_says_what_it_has(tmp_path: Path) -> None:
    assert the_file_is_refused(tmp_path)[1:] == ("a folder", "name a .yaml file")
    (tmp_path / "zonal.yaml").write_text(BASE, encoding="utf-8")
    assert the_file_is_refused(tmp_path)[1:] == ("a folder", "name a file in it: zonal.yaml")
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    assert the_file_is_refused(tmp_path)[1:] == ("a run folder", f"tsnbench report {tmp_path} reads it")


def the_file_is_refused(path: Path) -> tuple[str, str, str]:
    with pytest.raises(ScenarioErrors) as refused:
        load_variants(str(path))
    (only,) = refused.value.problems
    return only.expected, only.found, only.hint


def test_there_are_enough() -> None:
    assert len(WRITTEN) + len(ADDED) + len(TABLES) >= 200

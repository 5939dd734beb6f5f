"""What each command does, for ``tsnbench --help``, which then answers without loading the commands."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Describe": {
        "init": "Write a commented starter scenario.",
        "check": "Read and plan scenarios, and report every mistake at once.",
        "schema": "Print the JSON Schema of scenarios or inventories, or one key.",
        "catalogue": "List named patterns, classes and gate control lists.",
        "import": "Print a scenario from files of other tools.",
    },
    "Plan": {
        "plan": "Plan a scenario: paths, gates, worst cases; tables, JSON or files.",
        "tune": "Find the smallest or largest value that meets every requirement.",
        "cnc": "Admit streams while the network runs.",
        "join": "Ask a CNC for this host's streams, and send or receive them.",
    },
    "Run and measure": {
        "run": "Plan, run, measure, judge and report a scenario, or a whole sweep.",
        "measure": "Measure delay, jitter and loss of a run folder or of captures.",
        "inspect": "Report streams, rates, intervals and bursts of one capture.",
        "report": "Write the report of one or several runs as one HTML file.",
        "compare": "Compare runs with the first one, and all runs with the bounds.",
        "replay": "Show why frames waited, hop by hop, also as an animated page.",
    },
    "Study": {
        "study": "Run a scenario many times, with varied values and repetitions.",
        "reproduce": "Run the scenarios of a paper's figure beside its printed numbers.",
    },
    "Devices and labs": {
        "calibrate": "Fit a description of a device to measurements, with intervals.",
        "conform": "Test whether one device does what a scenario says.",
        "prove": "Tell whether a port's gate list is on, and which layer lost it.",
        "doctor": "Report what this machine, a host or a lab supports.",
        "discover": "Print a scenario of what runs in a lab: wires, queues, gates.",
        "diff": "Compare the running state of hosts with a Plan.",
        "watch": "Watch a running network, and serve what is found to Prometheus.",
        "deploy": "Configure running devices by NETCONF: all or none.",
        "send": "Send streams on an interface, on time. Needs root.",
        "receive": "Count received frames per stream. Needs root.",
        "lab": "Make a lab of hosts on this machine, or end it.",
        "restore": "Remove everything that killed runs left on machines.",
    },
    "Tools": {
        "ui": "Open a folder of scenarios and runs in the browser.",
        "explain": "Explain a message by its code: cause, example and remedy.",
        "wireshark": "Install a dissector for Wireshark and tshark.",
        "lsp": "Run a language server for editors on standard input and output.",
    },
}
"""The groups of commands, and the first paragraph of every command's help, in the order of ``--help``."""
SUMMARIES = {name: text for group in GROUPS.values() for name, text in group.items()}
"""The first paragraph of every command's help."""

"""What each command does, for ``tsnbench --help``, which then answers without loading the commands."""

from __future__ import annotations

SUMMARIES = {
    "init": (
        "Write a scenario with comments to begin with: a small network, a zonal car, a ring, a "
        "line of drives, a star or a train."
    ),
    "check": "Check scenarios: read and plan them, and report every mistake at once.",
    "schema": "Print the JSON Schema of scenario files, or of inventories, for editors.",
    "catalogue": (
        "List the names that a scenario can use in place of numbers: patterns, classes, gate control lists."
    ),
    "plan": "Plan a scenario: paths, classes, shapers, loads, or the worst case; as tables, JSON or files.",
    "deploy": "Configure running devices by NETCONF: all or none. The earlier state is recorded.",
    "run": "Plan, run, measure, judge and report a scenario; of a sweep, all runs.",
    "tune": (
        "Find the first or last value of a parameter that keeps every requirement, or how many flows fit."
    ),
    "reproduce": (
        "Run the scenarios of a paper's figure, and draw its numbers beside the results; or run its study."
    ),
    "doctor": (
        "Report the features that this machine's kernel, interfaces, clocks and processors support, with "
        "reasons for missing ones; for a lab, the features that its hosts lack."
    ),
    "restore": (
        "Remove everything that killed runs left on this machine, or on hosts. Active runs are not changed."
    ),
    "measure": (
        "Measure delay, jitter and loss per stream: of a run folder, or of captures (A B, or --tx, --rx)."
    ),
    "inspect": "Report the figures of one capture: streams, rates, intervals, bursts, missing numbers.",
    "report": "Write a report as one HTML file; several runs, or those of a sweep, are compared in it.",
    "replay": "Show why frames waited, hop by hop, and replay a window of the run in a page.",
    "compare": (
        "Compare runs (simulator, kernels, captures) with the first run, and all runs with the bounds."
    ),
    "send": "Send streams on an interface, on time; report lateness and refused frames. Needs root.",
    "receive": "Count received frames per stream: lost, duplicate, out of order, delay. Needs root.",
    "ui": (
        "Open a folder in the browser: edit scenarios, see their problems as you type, list runs and reports."
    ),
    "lsp": "Run a language server on standard input and output, for editors: problems, completion, meanings.",
    "import": "Print a scenario from files of other tools.",
    "study": "Run a scenario many times, with varied values and repetitions.",
    "lab": "Make a lab of hosts on this machine, with an ssh server each, or end it.",
    "wireshark": "Install a dissector of tsnbench's test payload and of TRDP.",
}
"""The first paragraph of every command's help, in the order of ``--help``."""

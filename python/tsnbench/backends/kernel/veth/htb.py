"""Classes of HTB, and the filters that assign frames to them. tc-htb(8)."""

from __future__ import annotations

from dataclasses import dataclass

from tsnbench.linux.qdiscs import Options, Qdisc, Root


@dataclass(frozen=True)
class HtbClass:
    """A class with its rate."""

    parent: str
    classid: str
    options: Options

    def line(self, device: str, verb: str) -> str:
        """The whole command on one line, as a batch file requires."""
        words = [f"class {verb} dev {device} parent {self.parent} classid {self.classid} htb"]
        return " ".join([*words, *(f"{name} {value}" for name, value in self.options)])


@dataclass(frozen=True)
class BpfFilter:
    """A program of classic BPF that chooses a class."""

    parent: str
    bytecode: str

    def line(self, device: str, verb: str) -> str:
        """The whole command on one line, as a batch file requires."""
        return f"filter {verb} dev {device} parent {self.parent} protocol all bpf bytecode '{self.bytecode}'"


Element = Root | Qdisc | HtbClass | BpfFilter
"""One part of a port's shaping."""

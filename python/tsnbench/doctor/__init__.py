"""The capabilities of this machine for Plans, and their causes: its kernel, interfaces, clocks and
processors."""

from tsnbench.doctor.answers import Answer, answer_of_lab, answers
from tsnbench.doctor.findings import Finding, examine
from tsnbench.doctor.lab import LabReport, examine_lab
from tsnbench.doctor.one_host import examine_host

__all__ = [
    "Answer",
    "Finding",
    "LabReport",
    "answer_of_lab",
    "answers",
    "examine",
    "examine_host",
    "examine_lab",
]

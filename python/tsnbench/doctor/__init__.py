"""What this machine can do of a Plan, and why not: its kernel, interfaces, clocks and processors."""

from tsnbench.doctor.answers import Answer, answers
from tsnbench.doctor.findings import Finding, examine

__all__ = ["Answer", "Finding", "answers", "examine"]

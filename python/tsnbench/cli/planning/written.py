"""``tsnbench plan --into``: files of one Plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tsnbench.cli.console.options import interfaces_of
from tsnbench.cli.console.output import print_line, print_message
from tsnbench.cli.parts import exports, linux_profile, plan_page, yang_check
from tsnbench.errors import InputError
from tsnbench.plan.document import Plan
from tsnbench.plan.notes import SHOWN

PAGE = "html"
"""The format of the page."""


def formats_of(text: str) -> list[str]:
    """The formats that ``--as`` names, with commas.

    Raises:
        InputError: a format is not known.
    """
    named = [one.strip() for one in text.split(",") if one.strip()]
    known = [*exports.FORMATS, PAGE]
    if unknown := [one for one in named if one not in known]:
        raise InputError(f"--as: expected some of {', '.join(known)}, found {', '.join(unknown)}")
    return named


def write_page(plans: Sequence[Plan], title: str, folder: Path) -> None:
    """Writes the page of a Plan; prints its path on stdout."""
    print_line(str(plan_page.write_plan(_only_one(plans, "--into"), folder, title)))


@dataclass(frozen=True)
class Export:
    """The options of an export."""

    folder: Path
    formats: list[str]
    taprio: str
    queues: str
    interfaces: list[str] | None
    """``PORT=NAME``"""
    yang: Path | None
    """Modules to check YANG data against."""

    def write(self, plans: Sequence[Plan]) -> None:
        """Writes files; prints the losses on stderr, and their paths on stdout.

        Raises:
            InputError: an option has a wrong value, or there are several Plans.
        """
        document = _only_one(plans, "--into").document
        mode, layout = linux_profile.Mode, linux_profile.Layout
        for option, text, words in (
            ("--taprio", self.taprio, list(mode)),
            ("--queues", self.queues, list(layout)),
        ):
            if text not in words:
                raise InputError(f"{option}: expected one of {', '.join(words)}, found {text}")
        names = interfaces_of({port["name"] for port in document["ports"]}, self.interfaces, "eth0")
        profile = linux_profile.Profile(mode=mode(self.taprio), layout=layout(self.queues), interfaces=names)
        done = exports.export(document, self.formats, profile)
        if self.yang is not None:
            for name, content in done.files.items():
                if name.endswith("/yang.xml"):
                    yang_check.check(content, self.yang)
        for path in exports.write(done, self.folder):
            print_line(str(path))
        for note in done.notes:
            print_message(note.line(SHOWN))


def _only_one(plans: Sequence[Plan], option: str) -> Plan:
    if len(plans) != 1:
        raise InputError(
            f"{option}: expected one run, found {len(plans)}\n  hint: choose with --only, such as hops=3"
        )
    return plans[0]

"""Plans with parts that this machine's kernel does not support: each is named with a backend that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of
from tsnbench.backends.netns import backend
from tsnbench.errors import InputError

TEXT = """\
name: refused
duration: 2 ms
network:
  stations: [t, l]
  bridges: {b: {}}
  links: {rate: 1 Gbit/s, between: [t -- b, b -- l]}
streams:
  s: {from: t, to: l, pcp: 5, period: 1 ms, frame: 100 B}
"""


@pytest.fixture(autouse=True)
def _available(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes before anything that needs root."""
    monkeypatch.setattr(backend, "unavailable", lambda: None)


def refusal(text: str, folder: Path) -> list[str]:
    with pytest.raises(InputError) as raised:
        backend.Namespaces().prepare(plan_of(text), folder / "run")
    assert not (folder / "run").exists()
    return str(raised.value).splitlines()


def test_a_part_that_no_kernel_has_is_for_the_simulator(tmp_path: Path) -> None:
    assert refusal(TEXT + "  back: {answers: s, frame: 100 B}\n", tmp_path) == [
        "refused: --on netns cannot run all of this plan:",
        "  stream back: answers",
        "hint: the simulator supports everything",
    ]


def test_a_part_that_the_guest_has_is_for_the_guest(tmp_path: Path) -> None:
    gated = (
        TEXT + "shapers: {b -> l: {gates: {entries: [{open: [5], for: 500 us}, {open: [0], for: 500 us}]}}}\n"
    )
    clocks = gated + "clocks: {t: {drift: 10 ppm}}\n"
    *_, hint = refusal(clocks, tmp_path)
    assert hint == "hint: --on vm has a kernel that can; the simulator supports everything"


def test_a_credit_that_forgets_debts_is_for_other_kernels(tmp_path: Path) -> None:
    """A frame on a veth interface takes its time at 10 Gbit/s, and owes another credit than at its port."""
    shaper = "shapers: {b -> l: {cbs: {5: {idle-slope: 10 Mbit/s, lo-credit: CREDIT}}}}\n"
    why = "  port b -> l: a lowest credit above what frames owe (cbs counts at the 10 Gbit/s of veth)"
    assert why in refusal(TEXT + shaper.replace("CREDIT", "-10 octets"), tmp_path)

"""What the planner proposes for gates that open too briefly or never; each proposal by hand."""

from __future__ import annotations

import pytest

from tsnbench.planning.draft import Port
from tsnbench.planning.shaping.gate_remedies import Cure, longer, opened
from tsnbench.scenario.model.gates import Follow, GateEntry, Gates
from tsnbench.scenario.model.shapers import Shaper

US = 1_000


def gates(*entries: tuple[list[int], int], by_class: bool = False, cycle: int | None = None) -> Gates:
    """A list of what is open, each for so many us."""
    made = tuple(GateEntry(open=tuple(numbers), duration=us * US) for numbers, us in entries)
    return Gates(entries=made, by="class" if by_class else "pcp", cycle=None if cycle is None else cycle * US)


def port(written: Gates | Follow | None) -> Port:
    """A port whose PCPs 7 and 6 are class 2, and 5 and 4 class 1."""
    own = {"shaper": Shaper(gates=written), "pcp_to_class": (0, 0, 0, 0, 1, 1, 2, 2)}
    return Port(0, "a -> b", node=0, to=1, copy=1, peer=1, rate_bps=10**9, propagation_ps=0, **own)


PATH = "shapers.a -> b.gates"


def test_the_longest_entry_is_to_open_the_class_as_well() -> None:
    entries: list[tuple[list[int], int]] = [([0], 30), ([6, 0], 50), ([], 20), ([0], 50)]
    assert opened(port(gates(*entries)), 1, [4, 5]) == Cure(
        f"{PATH}.entries[1].open", "write open: [6, 5, 4, 0] in this entry"
    )
    # The list counts classes here: 0 and 6 are classes, and so is what is added.
    assert opened(port(gates(*entries, by_class=True)), 1, [4, 5]) == Cure(
        f"{PATH}.entries[1].open", "write open: [6, 1, 0] in this entry"
    )


def test_a_list_that_is_not_written_is_to_be_written() -> None:
    hint = "write entries that open PCP 4, 5, or give the streams a PCP that is open"
    for unwritten in (None, Follow(port="b -> c")):
        assert opened(port(unwritten), 1, [4, 5]) == Cure(PATH, hint)
        assert longer(port(unwritten), 1, 12_500) == Cure(
            PATH, "write entries with a window of 12500 ns or more, or send smaller frames"
        )


def test_a_list_that_is_cut_is_to_be_cut_later() -> None:
    cut = gates(([6], 50), ([5], 50), cycle=50).model_copy(update={"fit_entries": True})
    assert opened(port(cut), 1, [5]) == Cure(
        PATH, "write a longer cycle: fit-entries removes what does not fit"
    )
    assert longer(port(cut), 1, 12_500) == Cure(
        PATH, "write entries with a window of 12500 ns or more, or send smaller frames"
    )


LONGEST = gates(([5], 10), ([4, 7], 20), ([4], 20), ([6], 90))
BY_CLASS = gates(([1], 10), ([0], 20), ([2, 1], 15), by_class=True)
IN_CYCLE = gates(([7], 10), ([5], 20), ([6], 40), ([0], 30), cycle=100)
"""20 us of 100 us are open: the others have 10, 40 and 30 us."""


@pytest.mark.parametrize(
    ("written", "traffic_class", "needs", "entry", "hint"),
    [
        # The longest entry that opens the class is to be longer, in whole us.
        (LONGEST, 1, 20_001, 1, "write for: 21 us in this entry"),
        (LONGEST, 1, 21_000, 1, "write for: 21 us in this entry"),
        (LONGEST, 1, 21_001, 1, "write for: 22 us in this entry"),
        (LONGEST, 2, 95_000, 3, "write for: 95 us in this entry"),
        (BY_CLASS, 1, 16_000, 2, "write for: 16 us in this entry"),
        # In a written cycle the longest other entry gives less than half of it: it would have no more left.
        (IN_CYCLE, 1, 21_000, 1, "write for: 21 us in this entry and for: 39 us in entries[2]"),
        (IN_CYCLE, 1, 39_000, 1, "write for: 39 us in this entry and for: 21 us in entries[2]"),
        (IN_CYCLE, 1, 40_000, 1, "write for: 40 us in this entry, and cycle: 120 us"),
        (IN_CYCLE, 1, 41_000, 1, "write for: 41 us in this entry, and cycle: 121 us"),
        # Without other entries the cycle is to be longer.
        (
            gates(([5], 20), ([4], 10), cycle=30),
            1,
            25_000,
            0,
            "write for: 25 us in this entry, and cycle: 35 us",
        ),
        # Only a later list opens the class.
        (gates(([7], 20), ([0], 10)), 1, 12_336, None, "open it for 12336 ns or more"),
    ],
)
def test_a_longer_window(
    written: Gates, traffic_class: int, needs: int, entry: int | None, hint: str
) -> None:
    path = PATH if entry is None else f"{PATH}.entries[{entry}].for"
    assert longer(port(written), traffic_class, needs) == Cure(path, hint)

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
    return Port(
        number=0,
        name="a -> b",
        node=0,
        to=1,
        copy=1,
        peer=1,
        rate_bps=10**9,
        propagation_ps=0,
        shaper=Shaper(gates=written),
        pcp_to_class=(0, 0, 0, 0, 1, 1, 2, 2),
    )


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


def test_the_longest_entry_that_opens_the_class_is_to_be_longer_in_whole_us() -> None:
    entries: list[tuple[list[int], int]] = [([5], 10), ([4, 7], 20), ([4], 20), ([6], 90)]
    for needs, us in ((20_001, 21), (21_000, 21), (21_001, 22)):
        assert longer(port(gates(*entries)), 1, needs) == Cure(
            f"{PATH}.entries[1].for", f"write for: {us} us in this entry"
        )
    # Of class 2 the last entry is the longest.
    assert longer(port(gates(*entries)), 2, 95_000) == Cure(
        f"{PATH}.entries[3].for", "write for: 95 us in this entry"
    )


def test_a_list_that_counts_classes() -> None:
    by_class = gates(([1], 10), ([0], 20), ([2, 1], 15), by_class=True)
    assert longer(port(by_class), 1, 16_000) == Cure(
        f"{PATH}.entries[2].for", "write for: 16 us in this entry"
    )


@pytest.mark.parametrize(
    ("needs", "more"),
    [
        (21, " and for: 39 us in entries[2]"),
        (39, " and for: 21 us in entries[2]"),
        # The entry would have no more left than it gives.
        (40, ", and cycle: 120 us"),
        (41, ", and cycle: 121 us"),
    ],
)
def test_in_a_written_cycle_the_longest_other_entry_gives_less_than_half_of_it(needs: int, more: str) -> None:
    """20 us of 100 us are open: the others have 10, 40 and 30 us."""
    written = gates(([7], 10), ([5], 20), ([6], 40), ([0], 30), cycle=100)
    assert longer(port(written), 1, needs * US) == Cure(
        f"{PATH}.entries[1].for", f"write for: {needs} us in this entry{more}"
    )


def test_without_other_entries_the_cycle_is_to_be_longer() -> None:
    assert longer(port(gates(([5], 20), ([4], 10), cycle=30)), 1, 25 * US) == Cure(
        f"{PATH}.entries[0].for", "write for: 25 us in this entry, and cycle: 35 us"
    )


def test_a_class_that_only_a_later_list_opens() -> None:
    assert longer(port(gates(([7], 20), ([0], 10))), 1, 12_336) == Cure(PATH, "open it for 12336 ns or more")

"""The list of surviving mutants, and that `make mutants` fails with a new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.planner import PLANNING_MODULES, PLANNING_TESTS
from mutants.survivors import FOLDER, Survivor, all_listed, is_defect, listed, only, report

TREE = Path(__file__).parents[2]

ONE = Survivor("crates/bridge/src/cbs.rs", "if now > self.at {", "replace > with >= in advance")
OTHER = Survivor("python/tsnbench/planning/shaping/cbs.py", "share = a | b", "share = a & b")


def test_a_new_survivor_makes_the_run_fail() -> None:
    assert report([ONE, ONE], {ONE}, {ONE}) == ("2 survived, 0 of them new", False)
    text, failed = report([ONE, OTHER], {ONE}, None)
    assert failed
    assert text.splitlines() == ["2 survived, 1 of them new", f"new: {OTHER}"]


def test_what_is_seen_now_is_named_where_all_was_run() -> None:
    text, failed = report([OTHER], {ONE, OTHER}, {ONE, OTHER})
    assert (failed, text.splitlines()[1:]) == (False, [f"listed, and seen by a test now: {ONE}"])
    assert report([OTHER], {ONE, OTHER}, None) == ("1 survived, 0 of them new", False)


def test_a_list_has_a_reason_for_each() -> None:
    text = f"# Both are the same\n# at once.\n{ONE}\n\n# Another reason.\n{OTHER}\n"
    assert listed(text) == {ONE: "Both are the same at once.", OTHER: "Another reason."}
    assert only(listed(text), ["bridge", "clock"]) == {ONE}
    assert only(listed(text), ["planning"]) == {OTHER}
    delay = Survivor("python/tsnbench/plan/delay.py", "return a // b", "return a / b")
    assert only([ONE, OTHER, delay], ["planning"]) == {OTHER, delay}
    assert only([ONE, OTHER, delay], ["planning"], ["delay"]) == {delay}
    assert only([ONE, OTHER], ["bridge"], [ONE.file]) == {ONE}
    assert not only([ONE, OTHER], ["bridge"], ["crates/bridge/src/port.rs", "credit"])
    bars = Survivor(
        "crates/bridge/src/gates.rs", "states | open << class", "replace | with ^ in GateStates::at"
    )
    assert listed(f"# A reason.\n{bars}\n") == {bars: "A reason."}
    with pytest.raises(ValueError, match="line 1: expected a reason above"):
        listed(str(ONE))
    with pytest.raises(ValueError, match="line 2"):
        listed("# A reason.\ncrates/bridge/src/cbs.rs\n")


def test_what_the_tools_print_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text("fn a() {\n    b < c\n}\n")
    found = Survivor.of_cargo("a.rs:2:7: replace < with <= in a", tmp_path)
    assert found == Survivor("a.rs", "b < c", "replace < with <= in a")
    shown = "# tsnbench.planning.shaping.cbs.x_share__mutmut_1: survived\n"
    shown += "--- src/tsnbench/planning/shaping/cbs.py\n"
    shown += "+++ src/tsnbench/planning/shaping/cbs.py\n@@ -1,2 +1,2 @@\n def share():\n"
    shown += "-    share = a | b\n+    share = a & b\n"
    assert Survivor.of_mutmut(shown) == OTHER


@pytest.mark.parametrize(
    ("line", "change", "seen"),
    [
        ("for a, b in zip(x, y, strict=True):", "for a, b in zip(x, y, ):", False),
        ("for a, b in zip(x, y, strict=True):", "for a, b in zip(x, y, strict=False):", False),
        ("for a, b in zip(x, y, strict=True):", "for a, b in zip(x, strict=True):", True),
        ("for a, b in zip(x, y, strict=False):", "for a, b in zip(x, y, strict=None):", False),
        ("for a, b in zip(x, y, strict=False):", "for a, b in zip(x, y, strict=True):", True),
        ('a = cast("Gate", found)', "a = cast(None, found)", False),
        ('a = cast("Gate", found)', 'a = cast("XXGateXX", found)', False),
        ('a = cast("Gate", found)', 'a = cast("Gate", None)', True),
        ('a = cast("Gate", found)', "a = None", True),
        ('zip(x, cast("Gate", y), strict=True)', 'zip(None, cast("Gate", y), strict=True)', True),
        ("a = b + 1", "a = b - 1", True),
    ],
)
def test_changes_without_effect_are_no_defects(line: str, change: str, seen: bool) -> None:
    assert is_defect(Survivor("python/tsnbench/planning/draft.py", line, change)) is seen


def test_the_list_can_be_read_and_names_files_that_exist() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(FOLDER.glob("*.txt"))
    files = {survivor.file for survivor in all_listed()}
    assert [name for name in sorted(files) if not (TREE / name).is_file()] == []


def test_tests_and_modules_of_the_planner_are_there() -> None:
    assert [name for name in PLANNING_TESTS if not (TREE / name).is_file()] == []
    package = TREE / "python" / "tsnbench"
    assert [pattern for pattern in PLANNING_MODULES if not list(package.glob(pattern))] == []

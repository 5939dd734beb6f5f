"""What of the planner is changed, and the tests that have to see it."""

from __future__ import annotations

# The modules that mutmut changes: those of the planner, and modules of the Plan with closed forms.
PLANNING_MODULES = ["planning/**/*.py", "plan/delay.py", "plan/streams/paths.py"]

# Tests with values worked out by hand. Those that simulate, or draw many networks, take too long.
PLANNING_TESTS = [
    "tests/plan/test_delay.py",
    "tests/plan/test_document.py",
    "tests/plan/streams/test_paths.py",
    "tests/plan/test_warnings.py",
    "tests/planning/routing/test_disjoint.py",
    "tests/planning/routing/test_member_streams.py",
    "tests/planning/routing/test_redundancy.py",
    "tests/planning/routing/test_routes.py",
    "tests/planning/scheduling/test_exact.py",
    "tests/planning/scheduling/test_hints.py",
    "tests/planning/scheduling/test_incremental.py",
    "tests/planning/scheduling/test_shared_queues.py",
    "tests/planning/shaping/test_cbs.py",
    "tests/planning/shaping/test_cbs_of_engine.py",
    "tests/planning/shaping/test_derived_gates.py",
    "tests/planning/shaping/test_gate_changes.py",
    "tests/planning/shaping/test_gated_reservations.py",
    "tests/planning/shaping/test_reservations.py",
    "tests/planning/streams/test_replay.py",
    "tests/planning/test_golden.py",
    "tests/planning/test_left_to_plan.py",
    "tests/planning/test_passes.py",
    "tests/planning/test_places.py",
    "tests/planning/test_release_delay.py",
    "tests/planning/topology/test_bridging.py",
    "tests/planning/topology/test_faults.py",
    "tests/planning/topology/test_hosts.py",
    "tests/planning/topology/test_learning.py",
    "tests/planning/windows/test_by_hand.py",
    "tests/planning/windows/test_gate_list.py",
    "tests/planning/windows/test_planned_windows.py",
    "tests/quantities/test_quantities.py",
    "tests/scenario/test_errors.py",
    "tests/scenario/test_mistakes.py",
    "tests/scenario/test_tables.py",
]

"""How much tests try: the profile that ``TSNBENCH_TESTS`` names, for hypothesis and for loops."""

from __future__ import annotations

import os

from hypothesis import settings

SHARES = {"quick": 0.1, "test": 1.0, "nightly": 20.0}
"""Examples of a property, relative to ``make test``."""
PROFILE = os.environ.get("TSNBENCH_TESTS", "test")
if PROFILE not in SHARES:
    raise ValueError(f"TSNBENCH_TESTS: expected {', '.join(SHARES)}, found {PROFILE}")


def examples(number: int) -> int:
    """How many examples a property tries in this profile, of as many as `number` in ``make test``."""
    return max(1, round(number * SHARES[PROFILE]))


# Run times of examples depend on the load of the machine and say nothing about the code.
settings.register_profile(PROFILE, deadline=None, max_examples=examples(100))
settings.load_profile(PROFILE)

"""How much tests try: the profile that ``TSNBENCH_TESTS`` names, for hypothesis and for loops."""

from __future__ import annotations

import os

from hypothesis import settings

EXAMPLES = {"quick": 10, "test": 100, "nightly": 2_000}
"""How many examples a property tries that asks for no other share (`support.examples`)."""
PROFILE = os.environ.get("TSNBENCH_TESTS", "test")
if PROFILE not in EXAMPLES:
    raise ValueError(f"TSNBENCH_TESTS: expected {', '.join(EXAMPLES)}, found {PROFILE}")

# Run times of examples depend on the load of the machine and say nothing about the code.
settings.register_profile(PROFILE, deadline=None, max_examples=EXAMPLES[PROFILE])
settings.load_profile(PROFILE)

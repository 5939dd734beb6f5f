"""The exact engine: schedules from OR-Tools' CP-SAT, and proofs that there are none.

It reads the same problem as ``crates/schedule`` and shares its notion of what a schedule is, so a proof is
one for that notion: frames leave their talkers when they are released, go on at once or wait alone in their
queue. The optional extra ``exact`` brings ortools.
"""

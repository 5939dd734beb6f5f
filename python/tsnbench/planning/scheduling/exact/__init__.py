"""The exact engine: schedules from OR-Tools' CP-SAT, and proofs that there are none.

It reads the same problem as ``crates/schedule`` and has its definition of a schedule, so a proof is valid for
that definition: frames leave their talkers when they are released, and are forwarded at once or wait alone in
their queue. It needs the optional extra ``exact`` with ortools.
"""

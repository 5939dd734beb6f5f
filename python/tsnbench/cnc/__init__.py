"""``tsnbench cnc``: a Centralized Network Configuration that admits streams while the network runs.

IEEE 802.1Q-2022, 46. :mod:`~tsnbench.cnc.admission` decides about one change, :mod:`~tsnbench.cnc.service` is
the only writer, and :mod:`~tsnbench.cnc.store` keeps what was accepted.
"""

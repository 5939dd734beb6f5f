"""A Linux host that asks a CNC for its streams, sends or receives them, and leaves. IEEE 802.1Q, 46.2."""

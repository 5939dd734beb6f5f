"""RESTCONF (RFC 8040) over the modules of IEEE 802.1Qdj: streams of Centralized User Configurations (CUC).

``ieee802-dot1q-cnc-config`` and ``ieee802-dot1q-tsn-types`` (IEEE 802.1Q-2022, 46, and 802.1Qdj-2024).
"""

"""Nodes, ports, addresses, clocks, hosts, taps and faults: what the network is."""

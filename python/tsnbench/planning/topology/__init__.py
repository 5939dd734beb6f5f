"""The parts of the network: nodes, ports, addresses, clocks, hosts, taps and faults."""

"""A running network, watched all the time: its settings, links, clocks and streams as metrics."""

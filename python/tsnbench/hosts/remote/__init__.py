"""The connection to hosts: how they are reached, and the orders to their agents."""

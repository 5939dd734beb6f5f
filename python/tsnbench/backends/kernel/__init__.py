"""The whole network on one Linux kernel: namespaces, wires, qdiscs, talkers and captures.

This package has the common parts of the machine's own kernel and a guest's.
"""

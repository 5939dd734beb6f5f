"""The whole network on one Linux kernel: namespaces, wires, qdiscs, talkers and captures.

What the machine's own kernel and a guest's have in common.
"""

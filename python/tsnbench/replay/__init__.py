"""A simulated run once more: where every frame was at any instant, and why it waited."""

"""The treatment of frames in ports and bridges: classes, gates, shapers, cyclic queues, filters,
pre-emption."""

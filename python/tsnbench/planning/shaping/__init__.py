"""How ports and bridges treat frames: classes, gates, shapers, cyclic queues, filters, pre-emption."""

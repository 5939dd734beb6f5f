"""From what people write to the model: catalogue names resolved, generators expanded, rules between keys."""

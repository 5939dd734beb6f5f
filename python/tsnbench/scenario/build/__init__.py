"""From the file's tree to the model: catalogue names resolved, generators expanded, rules between keys
checked."""

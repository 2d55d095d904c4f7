"""The targets, one per module: the initial inputs of each, and what must hold for any input."""

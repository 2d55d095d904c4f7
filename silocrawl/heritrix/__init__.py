"""A Heritrix 3 of one's own: its jobs, asked and controlled over its REST interface."""

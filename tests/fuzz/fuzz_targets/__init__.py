"""The targets, one a module: what each begins with, and what has to be true of any input."""

"""Charts, each with its text alternative and its table; pure geometry."""

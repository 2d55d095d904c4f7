"""How the records are used: what the pages of usage and the COUNTER API share."""

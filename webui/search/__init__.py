"""Which records: searches and their addresses, facets, and what a bulk change is for."""

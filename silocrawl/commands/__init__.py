"""The commands `silo crawl target`, `queue`, `run` and others, and those to see captures again."""

"""The commands `silo crawl target`, `queue`, `launch`, `inject`, `run` and `status`."""

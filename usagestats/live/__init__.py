"""Log lines, counted as they are written: see docs/usage-live.md, "Log lines, live".

`line_processor` counts, logs and queues lines, exactly once; a worker takes them from a `queue`
in Redis, and `tail` from a file. Without Redis the same processor works where the file is read.
"""

"""Log lines, counted as they are written: see docs/usage-live.md, "Log lines, live".

`desk` does all that is done with lines, exactly once; a worker takes them from a `queue` in Redis,
and `tail` from a file. Without Redis the same desk works where the file is read.
"""

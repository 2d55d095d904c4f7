"""Read the lines of access logs (pure).

Read `readers` first: one reader for each format, and how a format is detected.
"""

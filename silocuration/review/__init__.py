"""Review of a Silo: variants of values, duplicates, and counts of both.

`clusters` groups values that are probably variants (pure), `duplicates` finds records that are
probably the same, `counts` asks the index.
"""

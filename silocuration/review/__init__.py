"""What a curator should look at: variants of a value, duplicates, and how many records have each.

`clusters` groups values that are probably variants (pure), `duplicates` finds records that are
probably the same, `counts` asks the index.
"""

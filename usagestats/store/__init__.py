"""What a Silo stores of the usage of its records: see docs/format-usage.md.

Read `paths` first, then `counts`; `queries` adds them up over periods.
"""

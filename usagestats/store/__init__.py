"""What a Silo stores of the usage of its records: see docs/format.md, "Usage".

Read `places` first, then `counts`; `queries` adds them up over periods.
"""

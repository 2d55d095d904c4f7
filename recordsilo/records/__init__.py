"""A record: its manifest as values, its next state, and how it is written.

Read `manifest` first, then `edit` and `commit`; `harvested_record` is what users hold.
"""

"""Uses of records, sent to a gatherer such as IRUS: see docs/usage-live.md, "Push to a gatherer".

`collecting` takes what a profile sends from classified lines, `outbox` keeps it until the gatherer
has acknowledged it, `sending` sends it. Read `openurl` first: what is sent, and to whom.
"""

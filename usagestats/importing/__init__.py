"""Files of log lines → events, the ledger and the counts.

Read `importing` first; `blocks` turns lines into columns, `files` finds what is new in a file.
"""

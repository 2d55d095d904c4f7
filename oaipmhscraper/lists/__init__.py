"""One list of a harvest: windows → pages → store → journal.

`list_harvest` has its windows fetched and stores their pages; `list_state` holds its windows,
numbers and losses, and `journal` keeps each change of them on the disk. `listed_identifiers`
knows who was listed, `window_changes` what becomes of a window (pure).

Read `list_harvest` first, then `list_state`.
"""

"""One list of a harvest: windows → pages → store → journal.

`list_harvest` lets windows be fetched and stores their pages. `list_state` has the windows, numbers
and losses of a list, and `journal` stores each change of them on the disk. `listed_identifiers` has
the identifiers listed so far; `window_changes` decides how windows are replaced (pure).

Read `list_harvest` first, then `list_state`.
"""

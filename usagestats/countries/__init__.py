"""From an address to a country, offline.

Read `lookup`: the files that are read, and how.
"""

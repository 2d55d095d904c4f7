"""Responses as received, in WARC files: written by a harvest, read by a replay.

`responses` writes every exchange before its page is stored, `files` knows how the files lie
on disk. `reading` takes the exchanges out again, `recorded_lists` and `recorded_singles` find
out what each was part of, `replay` makes a Silo of them. `pages_only` and `light_pages` are
for harvests that keep the answers and nothing else.

Read `responses` first, then `replay`.
"""

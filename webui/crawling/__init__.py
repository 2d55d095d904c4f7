"""The pages of our own crawls: targets, their launches, and how the crawls are.

They come through `contribution.py`, as those of any package do; nothing else of the page knows
`silocrawl`. Read `targets.py` first.
"""

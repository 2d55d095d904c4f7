"""A Silo out of recorded answers, as if the repository had sent them now.

`recorded_lists` and `recorded_singles` find out what each answer was part of.
Read `replay` first.
"""

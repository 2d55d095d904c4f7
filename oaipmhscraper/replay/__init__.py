"""Make a Silo from recorded responses, as if the repository had sent them now.

`recorded_lists` and `recorded_singles` find out to which list each response belongs. Read `replay`
first.
"""

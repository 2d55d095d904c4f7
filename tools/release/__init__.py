"""`make release`: builds, checks and tries a release, and uploads nothing.

Read `__main__` first. It is not in the wheel.
"""

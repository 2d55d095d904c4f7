"""A fleet of repositories: harvested again and again, each into its own Silo, by many workers.

`values` and `schedule` are pure and say when what is due; `Fleet` (`fleet.py`) is a directory
of Silos with its wishes and its state; `clock.py` runs what is due.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

"""Make Silos for tests of usage, and read all their counts."""

import sqlite3
from pathlib import Path

from usage_oracle import NAMES, Truth

from recordsilo import Silo
from usagestats.rules.settings import choose_profile


def make_silo(path: Path, settings: str = "") -> str:
    """Make a Silo; return its path."""
    with Silo(str(path), "info:", identifier_uri_prefix="oai:example.org:") as silo:
        choose_profile(silo.path, "eprints")
        with open(f"{silo.path}/usage/usage.toml", "a") as file:
            file.write(settings)
        return silo.path


def counts_of(silo_path: str) -> Truth:
    """Return all counts of a Silo, as the oracle gives them."""
    found = Truth()
    with sqlite3.connect(f"{silo_path}/usage/counts.sqlite") as connection:
        for day, item, machine, first, last, *figures in connection.execute(
            f"SELECT day, name, machine, first, last, {', '.join(NAMES)}"
            " FROM day_item JOIN item ON item.id = item"
        ):
            key = (day, item, bool(machine))
            found.figures[key], found.first_last[key] = tuple(figures), (first, last)
    connection.close()
    return found

"""The stars of records: ``curation/stars.json`` in the Silo, identifier → number."""

import json
import os
from collections.abc import Collection, Mapping

from recordsilo.disk.whole_file import whole_file


def path_of(silo_path: str) -> str:
    """Return the path of a Silo's stars."""
    return os.path.join(silo_path, "curation", "stars.json")


def read_stars(silo_path: str) -> dict[str, int]:
    """Return identifier → number of stars; empty if no record has stars."""
    try:
        with open(path_of(silo_path), encoding="utf-8") as file:
            return dict(json.load(file))
    except FileNotFoundError:
        return {}


def give_stars(silo_path: str, given: Mapping[str, int]) -> None:
    """Set the stars of some records."""
    os.makedirs(os.path.join(silo_path, "curation"), exist_ok=True)
    with whole_file(path_of(silo_path)) as file:
        file.write(json.dumps(read_stars(silo_path) | dict(given)).encode())


def take_stars(silo_path: str, identifiers: Collection[str]) -> None:
    """Remove the stars of some records; others keep theirs."""
    stars = read_stars(silo_path)
    if not stars.keys().isdisjoint(identifiers):
        with whole_file(path_of(silo_path)) as file:
            kept = {name: number for name, number in stars.items() if name not in identifiers}
            file.write(json.dumps(kept).encode())

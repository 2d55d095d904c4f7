"""Ways to damage a Silo: a module for each part of it, a function for each case.

`audit/test_rules.py` applies each to a Silo of its own. Importing the package fills the tables.
"""

from damage import (
    index,
    manifest_agreement,
    manifest_files,
    manifest_keys,
    pairtree,
    silo_files,
    silos_of_2010,
    unfinished_writes,
    version_files,
)
from damage.cases import CASES, OF_2010, OF_INDEX, Box, Break

__all__ = [
    "CASES",
    "OF_2010",
    "OF_INDEX",
    "Box",
    "Break",
    "index",
    "manifest_agreement",
    "manifest_files",
    "manifest_keys",
    "pairtree",
    "silo_files",
    "silos_of_2010",
    "unfinished_writes",
    "version_files",
]

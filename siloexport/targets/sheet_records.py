"""Records as directories that say of themselves what a table can say of them."""

import json
import os
from io import BytesIO

from infopackages.files import Add
from recordsilo.disk.regular_file import regular_fd
from siloexport.bibliography import bibliography_of
from siloexport.targets.sheet_facts import ABOUT, SheetFacts, facts_of, place_of, record_name
from siloexport.targets.trees import TreeForm, add_file
from siloexport.values import Deposit

_MAX = 64 << 20


class RecordsForm(TreeForm):
    """See `siloexport.targets.trees.TreeForm`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variant = f"{name} 1"

    def files(self, add: Add, deposit: Deposit, day: str) -> None:  # noqa: ARG002 - no day
        version = deposit.version
        for file in version.files:
            add_file(add, deposit, version, file, place_of(file))
        values = facts_of(deposit, bibliography_of(version))
        text = f"{json.dumps(values, ensure_ascii=False, indent=1)}\n".encode(errors="replace")
        add(ABOUT, len(text), BytesIO(text))

    def version_of(self, name: str, deposit: Deposit) -> str:
        return "" if name == ABOUT else deposit.version.name


def facts_in(directory: str) -> SheetFacts | None:
    """Return the facts in a record's directory; None if it has none that can be read."""
    try:
        with open(f"{directory}/{ABOUT}", "rb", opener=regular_fd) as file:
            values = json.loads(file.read(_MAX))
        facts = SheetFacts(os.path.basename(directory), values)
        return facts if record_name(values["identifier"]) == facts.name else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None

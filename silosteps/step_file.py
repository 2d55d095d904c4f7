"""Named steps in one ``.sql`` file::

    -- step: sessions
    -- What a session is, in a sentence or two.
    SELECT …

A step is the text below its heading. Parameters are ``$name``.
"""

import re
from collections.abc import Mapping
from importlib.resources import files

from silosteps.errors import StepFileInvalid

_HEADING = re.compile(r"^-- step: (.*)$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def read_steps(text: str) -> Mapping[str, str]:
    """Return the steps of a file: name → SQL, in the file's order.

    Raises:
        StepFileInvalid: A name is missing, invalid or repeated, or a step is empty.
    """
    pieces = _HEADING.split(text)
    steps: dict[str, str] = {}
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if not _NAME.fullmatch(name):
            raise StepFileInvalid(f"{name!r} is not a valid step name; use a-z, 0-9 and _")
        if name in steps:
            raise StepFileInvalid(f"there are two steps {name!r}")
        if not re.sub(r"--.*", "", body).strip():
            raise StepFileInvalid(f"the step {name!r} is empty")
        steps[name] = body.strip()
    return steps


def steps_of(package: str, name: str = "steps.sql") -> Mapping[str, str]:
    """Return the steps in a package."""
    return read_steps(files(package).joinpath(name).read_text(encoding="utf-8"))

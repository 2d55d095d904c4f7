"""Audit: disk against manifest, as coded findings; and mending what needs no guess.

`check` reads only, and looks with its own eyes: of the store's code it uses the names,
the paths, and the locks. `repair` changes the disk, through the store's own functions.
"""

from recordsilo.audit.check import Audit
from recordsilo.audit.findings import Code, Finding, Severity

__all__ = ["Audit", "Code", "Finding", "Severity"]

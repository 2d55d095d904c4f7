"""Packages of extras: loaded by name where they are used, or the command that installs them."""

import re
import shlex
import sys
from collections.abc import Iterable
from importlib import import_module, metadata
from typing import Any

from recordsilo.errors import RecordSiloError

_EXTRA = re.compile(r"""\s*(?:\band\s+)?\bextra\s*==\s*(["'])(?P<name>[\w.-]+)\1""")


class PackageMissing(RecordSiloError):
    """A package of an extra is not installed."""

    def __init__(self, purpose: str, package: str, extra: str = "") -> None:
        self.package = package
        super().__init__(
            f"{purpose} needs the package {package}; install it: {install_line(package, extra)}"
        )


def needed(module: str, purpose: str, extra: str = "", *, package: str = "") -> Any:
    """Load a module of an extra.

    Args:
        module: Its name.
        purpose: What needs it, as the beginning of a sentence.
        extra: The extra that is installed for this purpose; ``""``: the package alone is.
        package: Of the module, if it has another name.

    Raises:
        PackageMissing: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0].replace("_", "-")
        raise PackageMissing(purpose, package, extra) from None


def install_line(package: str, extra: str = "") -> str:
    """Return the command that installs a package, with what else its extra has.

    It names the packages that the extra requires, not ``recordsilo[extra]``: until there is a
    release, that would install the library of 2010.
    """
    wanted = requirements(_declared(), package, extra) or [package]
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *wanted])


def requirements(declared: Iterable[str], package: str, extra: str = "") -> list[str]:
    """Return the requirements of an extra; without an extra, that of a package alone (pure).

    Args:
        declared: Requirements as wheels declare them (``Requires-Dist``).
        package: Its name.
    """
    found: dict[str, None] = {}
    for one in declared:
        requirement, _, marker = (part.strip() for part in one.partition(";"))
        named = _EXTRA.search(marker)
        if extra:
            is_wanted = named is not None and named["name"] == extra
        else:
            is_wanted = re.match(rf"{re.escape(package)}(?![\w.-])", requirement) is not None
        if is_wanted:
            rest = _EXTRA.sub("", marker)
            found[f"{requirement}; {rest}" if rest else requirement] = None
    return list(found)


def _declared() -> list[str]:
    """Return the requirements of the installed recordsilo; none if it is not installed."""
    try:
        return metadata.requires("recordsilo") or []
    except metadata.PackageNotFoundError:
        return []

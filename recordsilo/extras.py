"""Packages of extras: loaded by name where they are used, or the command that installs them."""

import re
import shlex
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from recordsilo.distribution import NAME
from recordsilo.errors import RecordSiloError


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
        with warnings.catch_warnings():  # Python 3.12 tells users of the syntax of others
            warnings.simplefilter("ignore", SyntaxWarning)
            return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0].replace("_", "-")
        raise PackageMissing(purpose, package, extra) from None


class later:  # noqa: N801 - stands for a module
    """A module of an extra, loaded when something of it is first used.

    Args:
        module, purpose, extra: As for `needed`, whose error the first use raises.
    """

    def __init__(self, module: str, purpose: str, extra: str) -> None:
        self._needed = (module, purpose, extra)

    def __getattr__(self, name: str) -> Any:
        """Return something of the module, and keep it."""
        found = getattr(needed(*self._needed), name)
        setattr(self, name, found)
        return found


def lacking(module: str, purpose: str, extra: str) -> PackageMissing | None:
    """Return the error of a module of an extra that is not installed; None if it is there.

    Nothing is loaded.

    Args:
        module: Its name, without a dot; ``""`` for none.
        purpose, extra: As for `needed`.
    """
    if not module or find_spec(module) is not None:
        return None
    return PackageMissing(purpose, module.replace("_", "-"), extra)


def install_line(package: str, extra: str = "") -> str:
    """Return the command that installs the packages of an extra into this environment.

    pip and uv take ``silo-records[extra]`` for what is installed already, and ask no index for it.
    Without an extra, or if this code was not installed, the package alone is named.
    """
    declared = _declared()
    wanted = f"{NAME}[{extra}]" if extra and declared else requirement(declared, package)
    python = sys.executable or "python"
    if find_spec("pip") is None:  # uv makes environments without it
        return shlex.join(["uv", "pip", "install", "--python", python, wanted])
    return shlex.join([python, "-m", "pip", "install", wanted])


def requirement(declared: Iterable[str], package: str) -> str:
    """Return a package with the versions that are wanted; its name if none are known (pure).

    Args:
        declared: Requirements as wheels declare them (``Requires-Dist``).
        package: Its name.
    """
    for one in declared:
        named = one.partition(";")[0].strip()
        if re.match(rf"{re.escape(package)}(?![\w.-])", named):
            return named
    return package


def _declared() -> list[str]:
    """Return the requirements of the installed distribution; none if it is not installed."""
    try:
        return metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:
        return []

"""Packages of the extras, loaded by name where they are used."""

import importlib
from typing import Any

from usagestats.errors import PackageMissing


def needed(module: str, extra: str = "usage") -> Any:
    """Load a module of an extra.

    Args:
        module: Its name.
        extra: The extra that installs it.

    Raises:
        PackageMissing: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise PackageMissing(module.partition(".")[0].replace("_", "-"), extra) from None

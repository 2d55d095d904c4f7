"""The distribution: its name for pip, which is not that of the package, and its version.

``recordsilo`` is on PyPI the library of 2010; docs/adr/0070 says more.
"""

from functools import cache

NAME = "silo-records"
UNKNOWN = "0+unknown"
"""The version of code that runs without having been installed."""


@cache
def release() -> str:
    """Return the installed version, such as ``1.0.0``, or `UNKNOWN`."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(NAME)
    except PackageNotFoundError:
        return UNKNOWN

"""Packages of the extras, loaded by name where they are used."""

import os
from typing import Any

from recordsilo import extras
from usagestats.errors import AddressInvalid


def needed(module: str, extra: str = "usage") -> Any:
    """Load a module of an extra.

    Args:
        module: Its name.
        extra: The extra that installs it.

    Raises:
        PackageMissing: It is not installed.
    """
    return extras.needed(module, "silo usage", extra)


def check_extra() -> None:
    """Check that the packages are installed that every import needs, before they are loaded.

    Raises:
        PackageMissing: One is not.
    """
    for module in ("counter_robots", "duckdb", "numpy"):
        if missing := extras.lacking(module, "silo usage", "usage"):
            raise missing
    # No linear algebra is used, for which numpy would start a thread on each core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def redis_client(url: str, extra: str = "usage", **options: Any) -> Any:
    """Make a client of Redis; it connects when it is used.

    Args:
        url: Such as ``redis://127.0.0.1:6379/0``.
        extra: The extra that installs the package redis.
        options: Of ``Redis.from_url``.

    Raises:
        PackageMissing: The package is not installed.
        AddressInvalid: Not a valid address.
    """
    redis = needed("redis", extra)
    try:
        return redis.Redis.from_url(url, **options)
    except ValueError:
        raise AddressInvalid(
            f"{url!r} is not an address of Redis; write redis://host:6379/0"
        ) from None


def redis_problem(error: Exception) -> str:
    """Return what an error of the package redis says, as a sentence without its full stop."""
    return f"Redis cannot be used: {str(error).removesuffix('.')}"

"""One module for each metadata format, with its `Format` values in ``FORMATS``.

To add a format, write such a module; it is found by itself.
"""

import pkgutil
from importlib import import_module

from recordsilo.formats.format import Format


def _found() -> tuple[Format, ...]:
    modules = [import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    formats = [one for module in modules for one in module.FORMATS]
    return tuple(sorted(formats, key=lambda one: (one.preference, one.name)))


FORMATS: tuple[Format, ...] = _found()
"""All formats, the preferred main metadata file first."""

"""Pages with the documented interface of the packages, from their docstrings."""

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType

from website.pages import ROOT, tree, write

BASES = "object, BaseException, Exception, Enum, Mapping, Protocol, Generic, dict, str, int, tuple"
"""Base classes whose methods are not documented here."""
ALL = re.compile(r"^__all__\b", re.MULTILINE)
BESIDE = {"recordsilo": ("open", "RDFManifest", "RDFRecord", "RDFSilo")}
"""What is no part of ``__all__``, since ``import *`` must not hide `open` or need rdflib."""
KINDS = ("Functions", "Classes", "Exceptions", "Other values")
OTHER = (KINDS[-1], "autodata", list[str]())
MODULE = """# {name}

```{{eval-rst}}
.. automodule:: {name}
   :no-members:
```
"""
ENTRY = """
## {name}

```{{eval-rst}}
.. {directive}:: {path}
{options}
```
"""


def write_interface(staged: Path) -> None:
    """Write a page for each package that says in ``__all__`` what others may use.

    A name that several packages offer is described in one of them; the others link to it.

    Args:
        staged: The directory with the pages of the website.
    """
    modules = _modules()
    lines = ["# Python\n", "What each package offers to others: the names in its `__all__`.\n"]
    for name, module in modules.items():
        first = (module.__doc__ or "").split("\n", 1)[0]
        lines.append(f"* [`{name}`]({name}.md): {first}")
        write(staged / f"python/{name}.md", _page(module, modules))
    entries = [(name, f"{name}.md") for name in modules]
    write(staged / "python/index.md", "\n".join([*lines, tree(entries)]))


def _modules() -> Mapping[str, ModuleType]:
    """The packages with an ``__all__``, by name."""
    sources = {path.parent.name: path.read_text("utf-8") for path in ROOT.glob("*/__init__.py")}
    names = sorted(name for name, text in sources.items() if ALL.search(text))
    return {name: import_module(name) for name in names}


def _page(module: ModuleType, modules: Mapping[str, ModuleType]) -> str:
    """The page of a package: its docstring, a summary of its names, and each of them."""
    summary: dict[str, list[str]] = {kind: [] for kind in KINDS}
    entries = []
    names = [*module.__all__, *BESIDE.get(module.__name__, ())]
    for name in sorted(names, key=str.lower):
        found = getattr(module, name)
        home = _home(name, found, modules)
        place = "" if home == module.__name__ else f"{home}.md"
        first = (_docstring(found) or "").split("\n", 1)[0].replace("``", "`").replace("\\ ", "")
        kind, directive, options = _described(found)
        summary[kind].append(f"* [`{name}`]({place}#{name.lower()}): {first}".removesuffix(": "))
        if not place:
            lines = "\n".join(f"   {option}" for option in options)
            path = f"{home}.{name}"
            entries.append(ENTRY.format(name=name, directive=directive, path=path, options=lines))
    lists = [f"\n**{kind}**\n\n" + "\n".join(rows) + "\n" for kind, rows in summary.items() if rows]
    return "".join([MODULE.format(name=module.__name__), *lists, *entries])


def _docstring(found: object) -> str | None:
    """A value's own docstring, not that of its class."""
    return inspect.getdoc(found) if inspect.isclass(found) or inspect.isroutine(found) else None


def _home(name: str, found: object, modules: Mapping[str, ModuleType]) -> str:
    """The package that describes a name: the one that defines it, or else the first one."""
    offering = [one for one, module in modules.items() if name in module.__all__]
    same = [one for one in offering if getattr(modules[one], name) is found] or ["recordsilo"]
    own = getattr(found, "__module__", "").split(".")[0]
    return own if own in same else same[0]


def _described(found: object) -> tuple[str, str, list[str]]:
    """The kind of a value, the directive of autodoc for it, and the options of that."""
    if not inspect.isclass(found):
        return ("Functions", "autofunction", []) if inspect.isroutine(found) else OTHER
    if issubclass(found, Enum):
        return "Classes", "autoclass", [":members:", ":undoc-members:"]
    if issubclass(found, BaseException):
        return "Exceptions", "autoexception", [":members:"]
    options = [":members:", f":inherited-members: {BASES}"]
    if hidden := getattr(found, "for_packages", ()):
        options.append(f":exclude-members: {', '.join(sorted(hidden))}")
    return "Classes", "autoclass", options

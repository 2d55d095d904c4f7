"""Pages with the documented interface of the packages, from their docstrings."""

import ast
import inspect
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType

from website.pages import ROOT, tree, write

OTHERS = "object, BaseException, Exception, Enum, Mapping, Protocol, Generic, dict, str, int, tuple"
"""Base classes whose methods are not documented here."""
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
    found = {}
    for path in sorted(ROOT.glob("*/__init__.py")):
        module = ast.parse(path.read_text("utf-8"))
        targets = [node.targets[0] for node in module.body if isinstance(node, ast.Assign)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            found[path.parent.name] = import_module(path.parent.name)
    return found


def _page(module: ModuleType, modules: Mapping[str, ModuleType]) -> str:
    parts, elsewhere = [MODULE.format(name=module.__name__)], []
    for name in sorted(module.__all__, key=str.lower):
        found = getattr(module, name)
        home = _home(name, found, modules)
        if home != module.__name__:
            elsewhere.append(f"* [`{name}`]({home}.md#{name.lower()})")
            continue
        directive, options = _directive(found)
        lines = "\n".join(f"   {option}" for option in options)
        path = f"{home}.{name}"
        parts.append(ENTRY.format(name=name, directive=directive, path=path, options=lines))
    if elsewhere:
        parts.append("\n## Described elsewhere\n\n" + "\n".join(elsewhere) + "\n")
    return "".join(parts)


def _home(name: str, found: object, modules: Mapping[str, ModuleType]) -> str:
    """The package that describes a name: the one that defines it, or else the first one."""
    offering = [one for one, module in modules.items() if name in module.__all__]
    same = [one for one in offering if getattr(modules[one], name) is found]
    own = getattr(found, "__module__", "").split(".")[0]
    return own if own in same else same[0]


def _directive(found: object) -> tuple[str, list[str]]:
    """How autodoc describes a value, and its options."""
    if inspect.isclass(found):
        options = [":members:", f":inherited-members: {OTHERS}"]
        if issubclass(found, Enum):
            return "autoclass", [":members:", ":undoc-members:"]
        if issubclass(found, BaseException):
            return "autoexception", [":members:"]
        return "autoclass", options
    return ("autofunction" if inspect.isroutine(found) else "autodata"), []

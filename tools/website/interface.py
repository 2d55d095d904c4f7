"""Pages with the documented interface of the packages, from their docstrings."""

import ast
from pathlib import Path

from website.pages import ROOT, tree, write

PAGE = """# {name}

```{{eval-rst}}
.. automodule:: {name}
   :members:
   :imported-members:
   :undoc-members:
```
"""


def write_interface(staged: Path) -> None:
    """Write a page for each package that says in ``__all__`` what others may use.

    Args:
        staged: The directory with the pages of the website.
    """
    lines = ["# Python\n", "What each package offers to others: the names in its `__all__`.\n"]
    names = []
    for path in sorted(ROOT.glob("*/__init__.py")):
        module = ast.parse(path.read_text("utf-8"))
        if not any(_is_all(node) for node in module.body):
            continue
        name = path.parent.name
        first = (ast.get_docstring(module) or "").split("\n", 1)[0]
        lines.append(f"* [`{name}`]({name}.md): {first}")
        names.append((name, f"{name}.md"))
        write(staged / f"python/{name}.md", PAGE.format(name=name))
    write(staged / "python/index.md", "\n".join([*lines, tree(names)]))


def _is_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
    )

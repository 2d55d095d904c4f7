"""Where the pages of the documentation are: installed with the package, or in the source tree."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from recordsilo.distribution import NAME

_INSTALLED = "share/recordsilo/docs"
"""Where `pyproject.toml` puts the pages, below the prefix of the installation."""

INDEX = "index"
"""The topic of the list of all."""


def pages() -> dict[str, Path]:
    """Topic → its page: of the installed package, or of the source tree."""
    beside = Path(__file__).parents[1] / "docs"
    found = sorted(beside.glob("*.md")) if (beside / "shell.md").is_file() else _installed()
    return {path.stem: path for path in found}


def _installed() -> list[Path]:
    try:
        files = distribution(NAME).files or ()
    except PackageNotFoundError:
        return []
    return sorted(
        Path(str(one.locate()))
        for one in files
        if one.as_posix().endswith(".md") and _INSTALLED in one.as_posix()
    )

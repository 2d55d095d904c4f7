"""What a wheel and a source distribution must have in them, and nothing else. Pure."""

from collections.abc import Collection, Iterable, Mapping

PUT_BY_SETUPTOOLS = frozenset({"METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt"})
NOT_IN_SDIST = (".ci/", ".dockerignore", ".gitignore")
"""What is for the repository alone; the rest of what git tracks is in the source distribution."""


def wheel_faults(
    names: Iterable[str], tracked: Collection[str], shared: Mapping[str, str], stem: str
) -> list[str]:
    """Return what is wrong in a wheel, a sentence each.

    Args:
        names: Of its files.
        tracked: Paths that git tracks.
        shared: Directory in the source → directory below the prefix where its files go.
        stem: Name and version, as in the wheel's name.
    """
    tops = {path.partition("/")[0] for path in tracked if path.count("/") == 1
            and path.endswith("/__init__.py")}  # fmt: skip
    wanted = {path for path in tracked if path.partition("/")[0] in tops - {"tests"}}
    for source, target in shared.items():
        inside = (path for path in tracked if path.rpartition("/")[0] == source)
        wanted |= {f"{stem}.data/data/{target}/{path.rpartition('/')[2]}" for path in inside}
    found = {name for name in names if not name.endswith("/")}
    info = f"{stem}.dist-info/"
    ours = {name for name in found if name.startswith(info)}
    missing_info = {f"{info}{name}" for name in PUT_BY_SETUPTOOLS} - ours
    strange = {name for name in ours if name.removeprefix(info) not in PUT_BY_SETUPTOOLS
               and not name.startswith(f"{info}licenses/")}  # fmt: skip
    missing = (wanted - found) | missing_info
    if f"{info}licenses/LICENSE" not in ours:
        missing.add(f"{info}licenses/LICENSE")
    return _told("wheel", missing, (found - ours - wanted) | strange)


def sdist_faults(
    names: Iterable[str], tracked: Collection[str], generated: Collection[str], stem: str
) -> list[str]:
    """Return what is wrong in a source distribution, a sentence each.

    Args:
        names: Of its files.
        tracked: Paths that git tracks.
        generated: Paths that were made for the release.
        stem: Its only directory.
    """
    found = {name.removeprefix(f"{stem}/") for name in names}
    wanted = {path for path in tracked if not path.startswith(NOT_IN_SDIST)} | {*generated}
    by_setuptools = {name for name in found if ".egg-info/" in name}
    by_setuptools |= {"PKG-INFO", "setup.cfg"}
    return _told("source distribution", wanted - found, found - wanted - by_setuptools)


def _told(what: str, missing: Collection[str], strange: Collection[str]) -> list[str]:
    return [
        *(f"the {what} lacks {name}" for name in sorted(missing)),
        *(f"the {what} has {name}, which it must not" for name in sorted(strange)),
    ]

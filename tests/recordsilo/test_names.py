"""Names of versions and files: invalid ones are refused, none leads out of its version."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.disk.names import (
    check_path,
    check_version_name,
    is_own,
    is_staged,
    is_tag,
    version_dirname,
)
from recordsilo.errors import PathNameError, VersionNameError

paths = st.text(max_size=40) | st.lists(
    st.sampled_from(["..", ".", "", "a", "__1", "3=x", ".silo-1.tmp", "a\0", "\ud800"]), max_size=5
).map("/".join)


@given(paths)
def test_accepted_path_stays_in_its_version(path: str) -> None:
    try:
        check_path(path)
    except PathNameError:
        return
    base = "/silo/pairtree_root/ab/__1"
    assert os.path.normpath(f"{base}/{path}") == f"{base}/{path}"
    assert "\0" not in path
    assert not is_tag(path)
    assert not any(is_staged(part) for part in path.split("/"))


@given(paths)
def test_accepted_version_is_one_directory_of_the_record(version: str) -> None:
    try:
        check_version_name(version)
    except VersionNameError:
        return
    directory = version_dirname(version)
    assert os.path.dirname(directory) == ""
    assert is_own(directory)
    assert not directory.startswith("__manifest.json")


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "../x", "a/../../x", "a/./b", "a//b", "a/", ".", "..", "a\nb", "a\x7f",
        "a\0", "\ud800", "3=2004", "0=x", ".silo-1-2.tmp", "d/.silo-x.tmp", "n" * 251,
        "/".join(["d" * 200] * 4), 7, None, b"a",
    ],
)  # fmt: skip
def test_bad_path_is_refused_before_anything_is_written(
    silo: Silo, path: object, tree: object
) -> None:
    record = silo.get_item("a")
    record.put_stream("kept", "x")
    with pytest.raises(PathNameError, match="cannot name a file in a version"):
        record.put_stream(path, "y")  # type: ignore[arg-type]
    with pytest.raises(PathNameError):
        record.rename_stream("kept", path)  # type: ignore[arg-type]
    assert silo["a"].paths() == ["kept"]
    assert os.listdir(record.to_dirpath()) == ["kept"]


@pytest.mark.parametrize(
    "version",
    ["", "a/b", "..", ".", "a\nb", "\ud800", "manifest.json", "manifest.json.new", "v" * 251,
     True, 1.5],
)  # fmt: skip
def test_bad_version_name_is_refused(silo: Silo, version: object) -> None:
    record = silo.get_item("a")
    record.sync()
    with pytest.raises(VersionNameError, match="cannot name a version"):
        record.clone_version("1", version)  # type: ignore[arg-type]
    with pytest.raises(VersionNameError):
        record.create_new_version(version)  # type: ignore[arg-type]
    assert silo["a"].versions == ["1"]


@pytest.mark.parametrize("path", ["a", "x/3=y", "6=x", "...", "-", "é", "中/文", " a ", "__1"])
def test_unusual_but_harmless_paths_are_stored(silo: Silo, path: str) -> None:
    silo.get_item("a").put_stream(path, "content")
    with silo["a"].get_stream(path) as stream:
        assert stream.read() == b"content"


def test_number_names_a_version_as_its_text(silo: Silo) -> None:
    record = silo.get_item("a")
    record.sync()
    assert record.clone_version("1", 2) == "2"  # type: ignore[arg-type]
    assert record.versions == ["1", "2"]

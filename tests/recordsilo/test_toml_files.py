"""The TOML files of a directory, each of which has a name."""

import re
from pathlib import Path

import pytest

from recordsilo.disk import toml_files
from recordsilo.disk.toml_files import TomlFiles, TomlInvalid, load_toml


@pytest.fixture
def files(tmp_path: Path) -> TomlFiles:
    return TomlFiles(str(tmp_path / "a" / "b"), re.compile(r"[a-z-]+"))


def test_what_is_stored_is_read_and_removed(files: TomlFiles) -> None:
    assert files.names() == []
    files.store("one", {"title": "Ölmühle", "some": [1, 2]})
    files.store("one", {"title": "other"})
    files.add("two", {})
    assert files.names() == ["one", "two"]
    assert files.load("one") == {"title": "other"}
    files.remove("one")
    assert files.names() == ["two"]
    for use in (files.load, files.remove):
        with pytest.raises(FileNotFoundError):
            use("one")


def test_an_added_file_replaces_none(files: TomlFiles) -> None:
    files.add("one", {"title": "first"})
    with pytest.raises(FileExistsError):
        files.add("one", {"title": "second"})
    assert files.load("one") == {"title": "first"}


@pytest.mark.parametrize("name", ["", "../one", "One", "one/two", "nul\0"])
def test_what_is_no_name_has_no_file(files: TomlFiles, name: str) -> None:
    for use in (files.load, files.remove, lambda one: files.store(one, {})):
        with pytest.raises(FileNotFoundError):
            use(name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"title = ", "not valid TOML"),
        (b"title = '\xff'", "not UTF-8"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"a = " + b"1" * 5000, "not valid TOML"),
        (b"#" * 200, "larger than"),
    ],
)
def test_what_is_invalid_is_said(
    tmp_path: Path, content: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said == "larger than":
        monkeypatch.setattr(toml_files, "MOST_BYTES", 100)
    path = tmp_path / "one.toml"
    path.write_bytes(content)
    with pytest.raises(TomlInvalid, match=said):
        load_toml(str(path))

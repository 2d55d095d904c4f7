"""What a Silo knows of the repository that it was harvested from."""

import json
from pathlib import Path

import pytest

from recordsilo.repository import STATE_FILE, Repository


def test_a_silo_that_was_never_harvested_knows_nothing(tmp_path: Path) -> None:
    repository = Repository(str(tmp_path))
    assert (repository.name, dict(repository.set_names)) == ("", {})


def test_the_file_is_read_again_when_another_harvest_replaced_it(tmp_path: Path) -> None:
    repository = Repository(str(tmp_path))
    for name in ("One", "Another"):
        state = {"identify": {"repositoryName": name}, "sets": {"a": name}}
        (tmp_path / STATE_FILE).write_text(json.dumps(state))
        assert (repository.name, dict(repository.set_names)) == (name, {"a": name})


@pytest.mark.parametrize("content", ["{", "[1]", '{"identify": 3, "sets": []}', "[" * 100_000])
def test_of_a_damaged_file_nothing_is_known(tmp_path: Path, content: str) -> None:
    (tmp_path / STATE_FILE).write_text(content)
    repository = Repository(str(tmp_path))
    assert (repository.name, dict(repository.set_names)) == ("", {})

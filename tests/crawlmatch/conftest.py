"""A Silo of a few records with links, and the commands."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.errors import RecordSiloError

Invoke = Callable[..., Result]


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo"), "info:", identifier_uri_prefix="oai:example.org:") as made:
        yield made


@pytest.fixture
def invoke() -> Invoke:
    """Run `silo crawl …`; fails the test on another exit code than is expected."""

    def run(*arguments: str | Path, code: int = 0, stdin: bytes | None = None) -> Result:
        done = CliRunner().invoke(
            silo_command, ["crawl", *map(str, arguments)], input=stdin, standalone_mode=False
        )
        told = done.return_value if isinstance(done.return_value, int) else 0
        if done.exception is not None:
            is_ours = isinstance(done.exception, RecordSiloError)  # which `silo` makes a sentence
            told = 2 if is_ours else getattr(done.exception, "exit_code", 99)
        assert told == code, (done.output, done.exception)
        return done

    return run


@pytest.fixture
def told(invoke: Invoke) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run(*arguments: str | Path, code: int = 0) -> Any:
        return json.loads(invoke(*arguments, "--json", code=code).stdout)

    return run

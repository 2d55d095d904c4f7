"""`silo usage try` says what a line means, and why it is not counted."""

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from usagestats.commands.trying import try_line
from usagestats.errors import SettingsInvalid
from usagestats.rules.settings import read_settings
from usagestats.store.places import settings_path


def test_the_record_of_a_robots_request_is_named(new_silo: Callable[[str], str]) -> None:
    line = (
        '203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /7/1/paper.pdf HTTP/1.1" 200 9120 "-" '
        '"Googlebot/2.1"'
    )
    done = CliRunner().invoke(try_line, [new_silo(""), line, "--json"], standalone_mode=False)
    known = json.loads(done.stdout)
    assert known["fate"] == "bots"
    assert known["because"].startswith("a robot (")
    assert known["kind"] == "download"
    assert known["record"].partition(" ")[0].endswith("7")


def test_settings_that_are_not_utf_8_are_refused(new_silo: Callable[[str], str]) -> None:
    silo_path = new_silo("")
    with open(settings_path(silo_path), "wb") as file:
        file.write(b'timezone = "Europe/Z\xfcrich"\n')
    with pytest.raises(SettingsInvalid, match="not UTF-8"):
        read_settings(silo_path)

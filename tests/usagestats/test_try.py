"""`silo usage try` says what a line means, and why it is not counted."""

import json
import os
import re
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from recordsilo.cli import silo_command
from usagestats.commands.trying import try_line
from usagestats.errors import SettingsInvalid
from usagestats.rules.settings import choose_profile, read_settings
from usagestats.settings import check_settings
from usagestats.store.paths import settings_path


def test_the_record_of_a_robots_request_is_named(new_silo: Callable[[str], str]) -> None:
    line = (
        '203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /7/1/paper.pdf HTTP/1.1" 200 9120 "-" '
        '"Googlebot/2.1"'
    )
    done = CliRunner().invoke(try_line, [new_silo(""), line, "--json"], standalone_mode=False)
    known = json.loads(done.stdout)
    assert known["result"] == "robot"
    assert known["because"].startswith("a robot (")
    assert known["kind"] == "download"
    assert known["record"].partition(" ")[0].endswith("7")


def test_every_line_of_a_log_is_tried_and_unreadable_ones_are_losses(
    new_silo: Callable[[str], str],
) -> None:
    good = (
        '203.0.113.7 - - [12/Oct/2026:23:30:01 +0000] "GET {} HTTP/1.1" 200 9 "-" "Firefox/140.0"'
    )
    silo_path = new_silo('timezone = "Europe/London"\n')
    given = "\n".join((good.format("/7/"), good.format("/x.css"), "broken", "", ""))
    asked = [silo_path, "-", "--json"]
    done = CliRunner().invoke(try_line, asked, input=given, standalone_mode=False)
    found = [json.loads(one) for one in done.stdout.splitlines()]
    assert [(one["result"], one.get("because")) for one in found] == [
        ("counted", None), ("other", "no pattern fits"), ("unreadable", "not of the log's format"),
        ("other", "an empty line"),
    ]  # fmt: skip
    assert (found[0]["day"], found[0]["record"]) == ("2026-10-13", "7 (not in this Silo)")
    assert done.return_value == 1
    done = CliRunner().invoke(silo_command, ["usage", "try", silo_path, "nonsense"])
    assert (done.exit_code, "this line is of no known format" in done.output) == (2, True)


def test_a_line_may_have_any_bytes(silo_path: str) -> None:
    """A control character becomes part of no identifier, and a CR ends no line."""
    line = '203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /{} HTTP/1.1" 200 9 "-" "\udcff\r"'
    for path in ("7%1b%5D0%3bx%07/", "7\x1b]0;x\x07/"):
        pattern = "\n[[pattern]]\npath = '^/(?P<id>7.*)/'\nrecord = '{id}'\nkind = 'view'\n"
        with open(settings_path(silo_path), "a") as file:
            file.write(pattern)
        given = os.fsencode(line.format(path))
        done = CliRunner().invoke(try_line, [silo_path, "-", "--json"], input=given)
        assert json.loads(done.stdout)["record"].startswith("7%1B]0;x%07 ")
    done = CliRunner().invoke(try_line, [silo_path, line.format("7/")], standalone_mode=False)
    assert "record    7" in done.stdout


def test_a_chosen_profile_changes_nothing_else(new_silo: Callable[[str], str]) -> None:
    push = "\n[push]\nprofile = 'off'\n"
    silo_path = new_silo(push)
    choose_profile(silo_path, "dspace7")
    with open(settings_path(silo_path)) as file:
        assert file.read() == 'profile = "dspace7"\n' + push


def test_settings_that_are_not_utf_8_are_refused(new_silo: Callable[[str], str]) -> None:
    silo_path = new_silo("")
    with open(settings_path(silo_path), "wb") as file:
        file.write(b'timezone = "Europe/Z\xfcrich"\n')
    with pytest.raises(SettingsInvalid, match="not UTF-8"):
        read_settings(silo_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[report]\ncolour = 'red'", "[report]: there is no setting 'colour'"),
        ("[report]\npublisher = 3", "[report]: publisher is a text"),
        ("[report]\naccess_type = 'Gold'", "[report]: access_type is one of"),
        ("[report]\nnamespace = '1'", "[report]: namespace has"),
        ("report = 3", "[report]: it is not a table"),
        ("[[entity]]\nkind = 'x'", "[[entity]] 1: prefix is missing"),
        ("[push]\nprofile = 'x'", '[push]: profile is "pirus2", "irus" or "off"'),
        ("[log]\nformat = 'json'\nfields = {adress = 'ip'}", "[log]: a line has no part 'adress'"),
        ("[log]\nformat = 'clf'", "[log]: there is no log format 'clf'"),
        ("[log]\ncolour = 'red'", "[log]: there is no setting 'colour'"),
        ("[log]\nformat = 'regex'\nline = '('", "[log]: the expression of the log's lines"),
        ("[[pattern]]\npath = 'x'\nrecord = 'y'\nkind = 'z'", "[[pattern]] 1: the kind"),
    ],
)
def test_every_command_reads_all_settings(
    new_silo: Callable[[str], str], text: str, told: str
) -> None:
    silo_path = new_silo(f"\n{text}\n")
    for name, *more in (("totals",), ("import", "-"), ("freeze",), ("top",), ("follow", __file__)):
        done = CliRunner().invoke(silo_command, ["usage", name, silo_path, *more], input="")
        assert (done.exit_code, told in done.output) == (2, True), done.output
    with pytest.raises(SettingsInvalid, match=re.escape(told)):
        check_settings(silo_path)

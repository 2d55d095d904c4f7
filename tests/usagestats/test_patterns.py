"""Which path means which record: patterns of one's own, the records of a Silo, and who asked."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up import THESIS

from recordsilo import Silo
from usagestats.errors import ProfileNeeded, SettingsInvalid
from usagestats.rules import of_silo
from usagestats.rules.of_silo import Records, fitting_profile, rules_of
from usagestats.rules.patterns import Pattern, Patterns, pattern_from
from usagestats.rules.robots import ADDED, ADDED_ON, AgentKind, RobotLists
from usagestats.rules.settings import (
    PROFILES,
    choose_profile,
    has_settings,
    logs_of,
    read_settings,
    settings_from,
)
from usagestats.store.paths import settings_path
from usagestats.values import Use, UseKind

UUID = "0a1b2c3d-0000-4000-8000-00000000000f"


def patterns(*tables: dict[str, Any], **found_by: Callable[[str], str]) -> Patterns:
    """Patterns of tables, which are of views unless they say so."""
    return Patterns([pattern_from({"kind": "view", **one}) for one in tables], **found_by)


# --------------------------------------------------------------------------- patterns


def test_the_first_pattern_that_is_found_decides() -> None:
    known = patterns(
        {"path": "^/a/(?P<id>[0-9]+)", "record": "first:{id}", "kind": "other"},
        {"path": "(?P<id>[0-9]+)/?$", "record": "second:{id}"},
    )
    assert known.use("/a/7") == Use("first:7", UseKind.OTHER)
    assert known.use("/b/7/") == Use("second:7", UseKind.VIEW)
    assert known.use("/b/x") is None


def test_groups_are_percent_decoded_and_may_be_missing() -> None:
    known = patterns({"path": "^/(?P<id>[^/]+)(?:/(?P<file>.+))?$", "record": "oai:{id}"})
    assert known.use("/a%20b%2Fc/d%C3%A9.pdf") == Use("oai:a b/c", UseKind.VIEW, "dé.pdf")
    assert known.use("/a") == Use("oai:a", UseKind.VIEW, "")
    assert known.use("/%0Aa%7F") == Use("oai:%0Aa%7F", UseKind.VIEW)


def test_an_identifier_may_be_several_groups_or_none() -> None:
    known = patterns(
        {"path": "^/(?P<set>[a-z]+)/(?P<n>[0-9]+)", "record": "{set}:{n}/{set}"},
        {"path": "^/$", "record": "the-home-page"},
        {"path": "^/braces", "record": "{{x}}"},
    )
    assert [known.use(one) for one in ("/ab/12", "/", "/braces")] == [
        Use("ab:12/ab", UseKind.VIEW), Use("the-home-page", UseKind.VIEW), Use("{x}", UseKind.VIEW),
    ]  # fmt: skip


def test_the_record_of_a_link_is_looked_for_before_its_text() -> None:
    held = {"/j/article/view/wind": "oai:a:1"}
    table = {"path": "^/j/article/(?:view|pdf)/(?P<name>[^/]+)", "record": "{link}",
             "link": "/j/article/view/{name}"}  # fmt: skip
    known = patterns(table, by_link=lambda one: held.get(one, ""))
    assert known.use("/j/article/pdf/wind") == Use("oai:a:1", UseKind.VIEW)
    assert known.use("/j/article/pdf/rain") == Use("/j/article/view/rain", UseKind.VIEW)
    resolving = patterns(table, resolve=lambda text: f"full:{text}")
    assert resolving.use("/j/article/pdf/rain") == Use("full:/j/article/view/rain", UseKind.VIEW)


def test_a_uuid_without_a_record_leaves_the_path_to_the_next_pattern() -> None:
    known = patterns(
        {"path": "/(?P<uuid>[0-9A-Fa-f-]{36})", "record": "{by_uuid}"},
        {"path": "/(?P<uuid>[0-9A-Fa-f-]{36})", "record": "unknown:{uuid}", "kind": "other"},
        by_uuid=lambda one: "oai:a:1" if one == UUID else "",
    )
    assert known.use(f"/{UUID.upper()}") == Use("oai:a:1", UseKind.VIEW)
    other = UUID.replace("0a", "0b")
    assert known.use(f"/{other}") == Use(f"unknown:{other}", UseKind.OTHER)


def test_an_empty_identifier_is_no_use() -> None:
    known = patterns(
        {"path": "^/(?P<id>[0-9]*)", "record": "{id}"}, {"path": "^/", "record": "later"}
    )
    assert known.use("/7") == Use("7", UseKind.VIEW)
    assert known.use("/") is None


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"path": "x", "record": "x", "kind": "view", "colour": "red"}, "has the values path"),
        ("x", "has the values path"),
        ({"path": "x", "record": "", "kind": "view"}, "needs a path and a record, both texts"),
        ({"path": 3, "record": "x", "kind": "view"}, "needs a path and a record, both texts"),
        ({"path": "x", "record": "x", "link": 3, "kind": "view"}, "the link of a pattern is"),
        ({"path": "x", "record": "x"}, "is view, download or other, not 'None'"),
        ({"path": "x", "record": "{", "kind": "view"}, "the record '{' is invalid"),
        ({"path": "x", "record": "x", "link": "}", "kind": "view"}, "the link '}' is invalid"),
        ({"path": "x", "record": "{}", "kind": "view"}, "names the group ''"),
        ({"path": "(?P<a>x)", "record": "{a}{b}{c}", "kind": "view"}, "names the group 'b'"),
        ({"path": "(?P<a>x)", "record": "{a!r}", "kind": "view"}, "more than names in braces"),
        ({"path": "x", "record": "{link}", "link": "{link}", "kind": "view"}, "the group 'link'"),
        ({"path": "[", "record": "x", "kind": "view"}, "path: "),
    ],
)  # fmt: skip
def test_a_pattern_that_is_invalid_is_refused(table: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        pattern_from(table)


def test_only_expressions_of_users_have_limits() -> None:
    ours = Pattern("^/x", "x", UseKind.VIEW, is_ours=True)
    users = pattern_from({"path": "^/y", "record": "y", "kind": "view"})
    assert [one.text for one in Patterns([ours, users]).own] == ["^/y"]


# --------------------------------------------------------------------------- robots


@pytest.mark.parametrize(
    ("agent", "who"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            AgentKind.PERSON,
        ),
        ("Mozilla/5.0 (compatible; Googlebot/2.1)", AgentKind.ROBOT),
        ("Mozilla/5.0", AgentKind.ROBOT),
        ("-", AgentKind.ROBOT),
        ("", AgentKind.ROBOT),
        ("curl/8.5.0", AgentKind.MACHINE),
        ("python-requests/2.32.3 Googlebot", AgentKind.MACHINE),
        ("GPTBot", AgentKind.ROBOT),
        ("xgptbots Chrome/140.0 Safari/537.36", AgentKind.ROBOT),  # COUNTER's list has "bot"
        ("Mozilla/5.0 (X11) Chrome/140 Sidetrade Safari/537.36", AgentKind.ROBOT),
        ("Mozilla/5.0 (X11) Chrome/140 Sidetrades Safari/537.36", AgentKind.PERSON),
    ],
)
def test_who_sends_a_request(agent: str, who: AgentKind) -> None:
    assert RobotLists().agent(agent) == who


def test_a_silo_has_further_robots() -> None:
    lists = RobotLists(["^OurMonitor/", "(?i)probe"])
    ours = ("OurMonitor/1 Firefox/140.0", "A PROBE Firefox/140.0")
    assert [lists.agent(one) for one in ours] == [AgentKind.ROBOT, AgentKind.ROBOT]
    assert lists.agent("Not OurMonitor/1 Firefox/140.0") == AgentKind.PERSON
    assert lists.version.endswith(f"+ {len(ADDED)} of our own + 2 of this Silo")
    assert RobotLists().version.endswith(f"+ {len(ADDED)} of our own")


def test_why_an_agent_is_a_robot_is_said() -> None:
    lists = RobotLists(["^OurMonitor/"])
    assert lists.why("curl/8.5.0").endswith("in COUNTER's list")
    assert lists.why("Mozilla/5.0").endswith("in COUNTER's list")
    assert lists.why("Chrome/140 Sidetrade") == f"sidetrade in our own list of {ADDED_ON}"
    assert lists.why("OurMonitor/1 Firefox/140.0") == "^OurMonitor/ in usage.toml"
    assert lists.why("Firefox/140.0") == ""


# --------------------------------------------------------------------------- records of a Silo


@pytest.fixture
def silo(silo_path: str) -> Silo:
    with Silo(silo_path, create=False) as found:
        for name in ("oai:example.org:1", "oai:example.org:a/b", "10.5555/x"):
            found.get_item(name).sync()
        return found


def test_a_record_is_found_in_any_form(silo: Silo) -> None:
    records = Records(silo)
    for text, full in (
        ("1", "oai:example.org:1"), ("oai:example.org:1", "oai:example.org:1"),
        ("a/b", "oai:example.org:a/b"), ("10.5555/x", "10.5555/x"),
    ):  # fmt: skip
        assert records.resolve(text) == full
    assert records.not_held == set()


def test_what_the_silo_does_not_hold_is_noted_as_it_was_asked_for(silo: Silo) -> None:
    records = Records(silo)
    assert [records.resolve(one) for one in ("2", "oai:other:1", "../x", "")] == [
        "2", "oai:other:1", "../x", "",
    ]  # fmt: skip
    assert records.not_held == {"2", "oai:other:1", "../x", ""}


def test_after_many_misses_the_records_are_listed_once(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_silo, "_MISSES", 3)
    listed, indexed = [], Silo.indexed
    monkeypatch.setattr(Silo, "indexed", lambda self: listed.append(1) or indexed(self))
    looked, exists = [], Silo.exists
    monkeypatch.setattr(Silo, "exists", lambda self, one: looked.append(one) or exists(self, one))
    records = Records(silo)
    for number in range(10, 20):
        assert records.resolve(str(number)) == str(number)
    assert len(looked) == 4
    assert [records.resolve(one) for one in ("1", "a/b", "10.5555/x", "oai:example.org:1")] == [
        "oai:example.org:1", "oai:example.org:a/b", "10.5555/x", "oai:example.org:1",
    ]  # fmt: skip
    assert (len(listed), len(looked), len(records.not_held)) == (1, 4, 10)


def linking(silo: Silo, **addresses: str) -> None:
    """Give records an address each."""
    for name, address in addresses.items():
        text = THESIS.replace("https://doi.org/10.5555/wex.1", address)
        record = silo.get_item(f"oai:example.org:{name.strip('_')}")
        record.put_stream("oai_dc", text.encode(), metadata=True)
        record.sync()


def test_a_link_of_one_record_leads_to_it_and_one_of_several_to_none(silo: Silo) -> None:
    linking(silo, _1="https://e.org/wind", _2="https://e.org/rain?x=1", _3="https://e.org/rain")
    records = Records(silo)
    assert [records.by_link(one) for one in ("/wind", "/rain", "/snow")] == [
        "oai:example.org:1", "", "",
    ]  # fmt: skip


def test_a_record_that_cannot_be_read_hides_no_other(silo: Silo) -> None:
    linking(silo, _1="https://e.org/wind", _2="https://e.org/rain")
    for path in Path(silo.path).rglob("oai_dc"):
        if b"e.org/wind" in path.read_bytes():
            path.write_bytes(b"<broken")
    manifest = next(one for one in Path(silo.path).rglob("__manifest.json") if "10" in str(one))
    manifest.write_bytes(b"{")
    records = Records(silo)
    assert (records.by_link("/rain"), records.by_link("/wind")) == ("oai:example.org:2", "")


def test_the_profile_is_chosen_that_fits_most_links(silo: Silo) -> None:
    assert fitting_profile(silo, Records(silo)) == ""
    linking(silo, _1="https://e.org/7/")  # of another record
    assert fitting_profile(silo, Records(silo)) == ""
    linking(
        silo, _1="https://e.org/1/", _2="https://e.org/id/eprint/2", _3="https://e.org/records/3"
    )
    assert fitting_profile(silo, Records(silo)) == "eprints"


def test_a_chosen_profile_is_remembered_unless_somebody_only_tries(silo: Silo) -> None:
    path = Path(settings_path(silo.path))
    before = path.read_text()
    rules, records = rules_of(silo, "ojs", remember=False)
    assert (rules.settings.profile, records.not_held, path.read_text()) == ("ojs", set(), before)
    rules_of(silo, "ojs")
    assert read_settings(silo.path).profile == "ojs"
    path.unlink()
    with pytest.raises(ProfileNeeded, match=r"--profile eprints \| .* or write patterns"):
        rules_of(silo)
    assert not has_settings(silo.path)
    linking(silo, _1="https://e.org/1/", _2="https://e.org/99/")
    rules, records = rules_of(silo)
    assert rules.settings.profile == read_settings(silo.path).profile == "eprints"
    assert records.not_held == set()  # of the trials
    assert has_settings(silo.path)


# --------------------------------------------------------------------------- settings


def test_without_settings_there_are_defaults(tmp_path: Path) -> None:
    found = read_settings(str(tmp_path))
    assert (found.timezone, found.window, found.profile, found.logs) == ("UTC", 90, "", ())
    assert (found.patterns, found.robots, found.format, found.countries) == ((), (), "", "")
    assert found.zone.key == "UTC"


def test_settings_are_as_they_were_written() -> None:
    found = settings_from({
        "profile": "ojs", "timezone": "Europe/London", "window": 1, "robots": ["^a", "b"],
        "logs": ["x.log", "y*"], "countries": "c.mmdb", "uuids": "u.csv",
        "log": {"format": "json", "fields": {"address": "ip"}},
        "push": {}, "report": {}, "entity": [], "entities": {},
    })  # fmt: skip
    assert (found.zone.key, found.window, found.robots) == ("Europe/London", 1, ("^a", "b"))
    assert (found.logs, found.countries, found.uuids) == (("x.log", "y*"), "c.mmdb", "u.csv")
    assert found.format == 'json:{"address": "ip"}'
    assert found.patterns
    assert all(one.is_ours for one in found.patterns)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"window": True}, "window is the number of days"),
        ({"window": 36501}, "window is the number of days"),
        ({"window": "90"}, "window is the number of days"),
        ({"timezone": "../etc/passwd"}, "there is no time zone"),
        ({"timezone": 3}, "timezone is a text"),
        ({"profile": ["eprints"]}, "profile is a text"),
        ({"profile": "x"}, f"there are {', '.join(PROFILES)}"),
        ({"pattern": {"path": "x"}}, "patterns are tables [[pattern]]"),
        ({"pattern": [{"path": "x", "record": "x", "kind": "view"}, {}]}, "[[pattern]] 2: "),
        ({"logs": "access.log"}, "logs is a list of texts"),
        ({"logs": [""]}, "logs is a list of texts"),
        ({"robots": [3]}, "robots is a list of texts"),
        ({"countries": 3}, "countries is a text"),
        ({"log": []}, "[log]: it is not a table"),
        ({"log": {"format": "json", "fields": []}}, "[log]: the fields of a JSON log are texts"),
        ({"log": {"format": "json", "fields": {"agent": 3}}}, "fields of a JSON log are texts"),
        ({"log": {"format": "regex"}}, "[log]: the expression of the log's lines needs a group"),
    ],
)
def test_a_setting_that_is_invalid_is_named(known: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        settings_from(known)


def test_the_file_of_an_invalid_setting_is_named(new_silo: Callable[[str], str]) -> None:
    path = new_silo("window = 0\n")
    with pytest.raises(SettingsInvalid, match=f"^{re.escape(settings_path(path))}: window is"):
        read_settings(path)


def test_a_profile_replaces_the_one_before_and_nothing_in_a_table(silo_path: str) -> None:
    path = Path(settings_path(silo_path))
    rest = 'window = 30\nprofiles_of = 1\n[push]\nprofile = "off"\n'
    path.write_text(f'# ours\n  profile = "ojs"\n{rest}')
    choose_profile(silo_path, "fedora")
    assert path.read_text() == f'profile = "fedora"\n# ours\n{rest}'


def test_the_logs_of_the_settings_are_read_the_oldest_first(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    path = new_silo(f'logs = ["{tmp_path}/b*", "{tmp_path}/*.log", "../near.log"]\n')
    for age, name in enumerate(("new.log", "b.log", "a.log", "bb", "near.log")):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (1000 - age // 2, 1000 - age // 2))
    found = logs_of(path, read_settings(path))
    assert [os.path.basename(one) for one in found[:2]] == ["near.log", "near.log"]
    assert [os.path.basename(one) for one in found[2:]] == ["a.log", "bb", "b.log", "new.log"]
    (tmp_path / "bb").unlink()
    (tmp_path / "b.log").unlink()
    with pytest.raises(SettingsInvalid, match=rf"there is no log {re.escape(str(tmp_path))}/b\*"):
        logs_of(path, read_settings(path))

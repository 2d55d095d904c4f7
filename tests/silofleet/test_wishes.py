"""The file of a fleet's wishes: read, refused, and changed without losing what people wrote."""

from dataclasses import fields, replace
from datetime import time, timedelta
from pathlib import Path

import pytest

from silofleet.errors import FleetRefused, WishesInvalid
from silofleet.values import Endpoint
from silofleet.wishes import (
    _KEYS,
    append_endpoints,
    change_endpoints,
    load_wishes,
    make_wishes,
    remove_endpoints,
    wishes_path,
)
from silowork.due.hours import Hours, hours_of
from silowork.errors import JobRefused

ONE = Endpoint("one", "http://one.example.org/oai")
TWO = Endpoint(
    "two",
    "http://two.example.org/oai",
    every=timedelta(hours=12),
    prefixes=("oai_dc", "uketd_dc"),
    sets=("a",),
    depth="pages",
    hours=Hours(time(20), time(6), "Asia/Jakarta"),
    tags=("dépôt", '"quoted"'),
    adaptive=True,
    window=timedelta(days=30),
    is_spread=True,
    is_giant=True,
    is_paused=True,
    node="n1",
)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    make_wishes(str(tmp_path))
    return tmp_path


def _write(fleet: Path, text: str) -> None:
    Path(wishes_path(str(fleet))).write_text(text, encoding="utf-8")


def _text(fleet: Path) -> str:
    return Path(wishes_path(str(fleet))).read_text(encoding="utf-8")


def test_endpoints_come_back_as_they_were_added(fleet: Path) -> None:
    append_endpoints(str(fleet), [ONE], {})
    append_endpoints(str(fleet), [TWO], {})
    assert list(load_wishes(str(fleet)).endpoints.values()) == [ONE, TWO]


def test_a_change_keeps_the_comments_of_people(fleet: Path) -> None:
    append_endpoints(str(fleet), [ONE, TWO], {})
    _write(fleet, _text(fleet).replace("[[endpoint]]", "# ask Ms Ames first\n[[endpoint]]", 1))
    change_endpoints(str(fleet), [Endpoint("two", "http://new.example.org/oai")], {})
    remove_endpoints(str(fleet), {"one"})
    assert list(load_wishes(str(fleet)).endpoints) == ["two"]
    assert load_wishes(str(fleet)).endpoints["two"].url == "http://new.example.org/oai"
    assert "# ask Ms Ames first" in _text(fleet)
    assert _text(fleet).startswith("# The repositories of this fleet")


def test_a_removed_endpoint_leaves_the_comments_of_the_next(fleet: Path) -> None:
    path = Path(wishes_path(str(fleet)))
    before = path.read_text(encoding="utf-8")
    append_endpoints(str(fleet), [ONE], {})
    with path.open("a", encoding="utf-8") as file:
        file.write(
            '\n# about the next\n  [[ endpoint ]] # x\n name = "x"\n url = "http://x.org/"\n'
        )
    change_endpoints(str(fleet), [replace(ONE, is_paused=True)], {})
    assert "# about the next\n" in path.read_text(encoding="utf-8")
    remove_endpoints(str(fleet), ["one", "x"])
    assert path.read_text(encoding="utf-8") == before + "\n# about the next\n"


def test_an_endpoint_that_cannot_be_found_in_the_text_is_not_said_to_be_removed(
    fleet: Path,
) -> None:
    path = Path(wishes_path(str(fleet)))
    text = 'endpoint = [{name = "one", url = "http://one.example.org/oai"}]\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FleetRefused, match="edit the file"):
        remove_endpoints(str(fleet), ["one"])
    with pytest.raises(FleetRefused, match="edit the file"):
        change_endpoints(str(fleet), [replace(ONE, is_paused=True)], {})
    assert path.read_text(encoding="utf-8") == text


def test_defaults_hold_for_endpoints_that_say_nothing(fleet: Path) -> None:
    _write(
        fleet,
        '[defaults]\nevery = "6h"\n[policy]\nfirst_rest = "2h"\nfewer = 0.5\n'
        'count_every = "never"\n'
        '[hosts."Slow.Example.org"]\ninterval = 5\n'
        '[[endpoint]]\nname = "a"\nurl = "http://a.example.org/oai"\n'
        '[[endpoint]]\nname = "b"\nurl = "http://b.example.org/oai"\nevery = "2d"\n',
    )
    wishes = load_wishes(str(fleet))
    assert wishes.endpoints["a"].every == timedelta(hours=6)
    assert wishes.endpoints["b"].every == timedelta(days=2)
    assert (wishes.policy.first_rest, wishes.policy.fewer) == (timedelta(hours=2), 0.5)
    assert wishes.policy.count_every == timedelta(0)
    assert wishes.hosts == {"slow.example.org": 5.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[endpoint", "not valid TOML"),
        ('[[endpoint]]\nname = "a"', "[[endpoint]] a: it has no url"),
        ('[[endpoint]]\nurl = "http://a.example.org"', "[[endpoint]] 1: it has no name"),
        ('[[endpoint]]\nname = "a"\nurl = "a.example.org"', "http"),
        ('[[endpoint]]\nname = "a"\nurl = "http://u:p@a.example.org/"', "password"),
        (
            '[[endpoint]]\nname = "../a"\nurl = "http://a.example.org"',
            "cannot name a Silo: it contains",
        ),
        (
            '[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\nnode = "n 1"',
            "[[endpoint]] a: 'n 1' cannot name a node: it contains a space",
        ),
        ('[nodes."n/1"]\nsearch = "http://127.0.0.1:8102/"', "cannot name a node: it contains"),
        ('[[endpoint]]\nname = ".moving"\nurl = "http://a.example.org"', "begin with a dot"),
        ('[[endpoint]]\nname = "-rf"\nurl = "http://a.example.org"', "or with a hyphen"),
        ('[[endpoint]]\nname = "curation"\nurl = "http://a.example.org"', "cannot name a Silo"),
        ('[[endpoint]]\nname = "Accounts"\nurl = "http://a.example.org"', "files or accounts"),
        ('[[endpoint]]\nname = "persisted_state.json"\nurl = "http://a"', "files or accounts"),
        ('[[endpoint]]\nname = "x.exports"\nurl = "http://a.example.org"', "the Silos beside it"),
        ('[[endpoint]]\nname = "x.crawls"\nurl = "http://a.example.org"', "the Silos beside it"),
        (
            f'[[endpoint]]\nname = "a"\nurl = "http://a/{"a" * 2000}"',
            "longer than 2,000 characters",
        ),
        ('[[endpoint]]\nname = "fleet"\nurl = "http://a.example.org"', "the directory's own files"),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\nevry = "1d"', "'evry'"),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\nevery = "soon"', "a duration"),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\nhours = "20-6"', "are not hours"),
        (
            '[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\nwindow = "x"',
            "a length of time",
        ),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\ntags = "x"', "a list of texts"),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\npaused = 1', "true or false"),
        ('[[endpoint]]\nname = "a"\nurl = "http://a.example.org"\n' * 2, "two endpoints"),
        ("[policy]\nfewer = true", "fewer"),
        ('[defaults]\nwarc_store = "s3://a:b@c"', "[defaults]: the address of an object store"),
        ("[policy]\nfewer = nan", "fewer: nan is not between 0 and 1"),
        ("[policy]\njitter = 3", "jitter: 3 is not between 0 and 0.5"),
        ("[policy]\ngiant_slots = -1", "giant_slots: -1 is not 0 or more"),
        ('[policy]\ncontact = "mé"', "contact"),
        ("[policy]\nmost_failures = 1.5", "whole number"),
        ('[policy]\nfirst_rest = "x"', "first_rest"),
        ('[policy]\nfirst_rest = "never"', "first_rest"),
        ("[policy]\ncount_every = 0", "count_every"),
        ('[notices]\nmial = "x"', "[notices]: there is no setting 'mial'"),
        ('[notices]\nmail = "me"', "me@example.org"),
        ('[notices]\nsmtp = "mail.example.org"', "a host and a port"),
        ('[notices]\nwebhook = "ftp://x"', "http or https"),
        ('[notices]\nwebhook = "http://[::1"', "http or https"),
        ('[notices]\nsilent_after = "week"', "silent_after: 'week' is not a duration"),
        ("[endpoints]\n", "'endpoints'"),
        ('[hosts."a"]\ninterval = -1', "number of seconds"),
        ('[defaults]\nname = "a"', "[defaults] cannot have 'name'"),
        ('endpoint = "x"', "two brackets"),
        ('endpoint = ["x"]', "two brackets"),
        ("defaults = 1", "defaults is a table"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(fleet: Path, text: str, said: str) -> None:
    _write(fleet, text)
    with pytest.raises(WishesInvalid) as error:
        load_wishes(str(fleet))
    assert said in str(error.value)
    assert "endpoints.toml" in str(error.value)


def test_an_addition_that_makes_the_file_invalid_changes_nothing(fleet: Path) -> None:
    append_endpoints(str(fleet), [ONE], {})
    before = _text(fleet)
    with pytest.raises(WishesInvalid, match="two endpoints"):
        append_endpoints(str(fleet), [TWO, ONE], {})
    assert _text(fleet) == before


@pytest.mark.parametrize("text", ["20-06", "20:00-20:00", "25:00-06:00", "20:00-06:00 Atlantis"])
def test_hours_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(JobRefused):
        hours_of(text)


def test_every_field_of_an_endpoint_has_a_key_in_the_file() -> None:
    assert [one.field for one in _KEYS.values()] == [one.name for one in fields(Endpoint)]

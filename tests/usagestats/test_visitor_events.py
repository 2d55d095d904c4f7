"""Events are flattened, read and enriched; what cannot be read has a reason."""

import pytest
from click.testing import CliRunner

from recordsilo.cli import silo_command
from usagestats.visitors.errors import DeadLetter
from usagestats.visitors.events import Visit, flattened, parsed, visit_of, with_profile
from usagestats.visitors.relay import Arrived
from usagestats.visitors.settings import FieldNames
from usagestats.visitors.steps import flatten

NAMES = FieldNames()
USER, SESSION = "query-other_domain_userid", "query-other_domain_sessionid"
VIEW = {"query-other_eventtype": "Pageview", "query-other_page_title": "Home"}
UNTITLED = {"query-other_eventtype": "Pageview"}


@pytest.mark.parametrize(
    "option", ["--kafka", "--from", "--to", "--dead-letters", "--group", "--set"]
)
def test_an_option_that_is_not_utf_8_is_refused(option: str) -> None:
    words = ["usage", "visitors", "flatten", "--kafka", "127.0.0.1:1", option, "a=\udcff"]
    assert isinstance(CliRunner().invoke(silo_command, words).exception, UnicodeEncodeError)


def test_pairs_become_fields_and_the_rest_stays() -> None:
    event = {
        "query": [{"name": "a", "value": 1}, {"name": "b", "value": ["x"]}],
        "path": "/p",
        "odd": [{"name": "a"}],
        "none": [],
    }
    assert flattened(event) == {
        "query-a": 1, "query-b": ["x"], "path": "/p", "odd": [{"name": "a"}]
    }  # fmt: skip


def test_flattening_twice_changes_nothing() -> None:
    flat = flattened({"query": [{"name": "a", "value": 1}]})
    assert flattened(flat) == flat


@pytest.mark.parametrize(
    ("event", "visit"),
    [
        ({USER: "u", SESSION: "s", **VIEW}, Visit("u", "s", "Home", 5000)),
        ({USER: 7, **VIEW, "query-other_eventtype": "Click"}, Visit("7", "", None, 5000)),
        ({USER: "u", SESSION: "s", **UNTITLED}, Visit("u", "s", None, 5000)),
    ],
)  # fmt: skip
def test_what_an_event_says_of_its_visitor(event: dict[str, object], visit: Visit) -> None:
    assert visit_of(event, NAMES, 5000, 10**13) == visit


@pytest.mark.parametrize(
    ("said", "time"),
    [
        (1_700_000_000, 1_700_000_000_000),
        ("1700000000000", 1_700_000_000_000),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("yesterday", 5000),
        (9_999_999_999_999, 1_800_000_000_000),
    ],
)
def test_the_time_of_an_event_is_its_own_but_never_in_the_future(said: object, time: int) -> None:
    names = FieldNames(time="t")
    assert visit_of({USER: "u", "t": said}, names, 5000, 1_800_000_000_000).time == time


@pytest.mark.parametrize("value", [None, b"\xff", b"[1]", b"{", b"[" * 100_000])
def test_what_is_no_event_has_a_reason(value: bytes | None) -> None:
    with pytest.raises(DeadLetter, match=r"^the message "):
        parsed(value)


@pytest.mark.parametrize("user", [None, "", " ", True, ["u"]])
def test_an_event_without_user_id_is_a_dead_letter(user: object) -> None:
    with pytest.raises(DeadLetter, match="no user id"):
        visit_of({USER: user, **VIEW}, NAMES, 0, 0)


def test_a_dead_letter_keeps_the_bytes_and_the_others_go_on() -> None:
    batch = [Arrived("t", 0, at, 9, b"k", value) for at, value in enumerate((b"\xff", b'{"a": 1}'))]
    dead, sent = flatten(batch)
    assert (dead.value, dead.reason) == (b"\xff", "the message is not JSON in UTF-8")
    assert (sent.value, sent.reason, sent.origin.key) == (b'{"a": 1}', "", b"k")


def test_the_profile_is_beside_the_events_own_fields() -> None:
    assert with_profile({"visit_id": "own"}, {"visit_id": "s"}) == {
        "visit_id": "own", "profile_visit_id": "s"
    }  # fmt: skip

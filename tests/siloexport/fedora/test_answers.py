"""Names, answers, time maps and credentials, without a server."""

from pathlib import Path
from typing import Any

import pytest
from fedora_simulator import _REFUSED_NAMES
from hypothesis import given
from hypothesis import strategies as st

from siloexport.errors import CredentialsRefused
from siloexport.targets.fedora import answers
from siloexport.targets.fedora.answers import (
    cause,
    digests,
    linked,
    mementos,
)
from siloexport.targets.fedora.credentials import credentials
from siloexport.targets.fedora.description import parsed, unlike
from siloexport.targets.fedora.names import file_path, object_segment
from siloexport.targets.fedora.place import find_root
from siloexport.targets.remote.errors import (
    RemoteError,
)

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(TEXTS)
def test_a_segment_holds_nothing_that_a_server_trips_over(identifier: str) -> None:
    segment = object_segment(identifier)
    assert not set(segment) & set("/%#?;:_ \\")
    assert not any(name in segment for name in _REFUSED_NAMES)
    assert segment.isascii()
    assert len(segment) <= 120


@given(st.lists(TEXTS, min_size=2, max_size=9, unique=True))
def test_no_two_records_share_a_segment(identifiers: list[str]) -> None:
    assert len(set(map(object_segment, identifiers))) == len(identifiers)
    assert len(set(map(file_path, identifiers))) == len(identifiers)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("oai_dc", "oai_dc"),
        ("docs/späße.txt", "docs/späße.txt"),
        ("a b", "a^20b"),
        ("fcr:metadata", "fcr^3ametadata"),
        ("..", "^2e."),
        ("100%", "100^25"),
    ],
)
def test_a_files_name_stays_readable(path: str, expected: str) -> None:
    assert file_path(path) == expected


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (404, {}, "", answers.NotThere),
        (410, {}, "", answers.Departed),
        (412, {}, "", answers.ChangedMeanwhile),
        (428, {}, "", answers.MatchWanted),
        (507, {}, "", answers.NoRoom),
        (401, {}, "", answers.Denied),
        (403, {}, "", answers.Denied),
        (503, {"Retry-After": "7"}, "", answers.Busy),
        (400, {}, "bad RDF", answers.Refused),
        (405, {}, "", answers.Refused),
        (409, {"Content-Type": "application/json"}, "{}", answers.Locked),
        (409, {}, "Cannot update info:fedora/a because it is being updated by another transaction.",
         answers.Locked),
        (409, {}, "No Transaction found with transactionId: x", answers.TransactionLost),
        (409, {}, "Transaction x cannot be committed because it is in a failed state!",
         answers.TransactionLost),
        (409, {}, "Checksum mismatch, computed SHA-512 digest", answers.DigestMismatch),
        (409, {}, "Resource path a is an immutable resource.", answers.Refused),
        (409, {}, "Nesting an ArchivalGroup within an ArchivalGroup is not permitted",
         answers.Refused),
    ],
)  # fmt: skip
def test_an_answer_is_told_by_its_cause(
    status: int, headers: dict[str, str], body: str, kind: type[Exception]
) -> None:
    assert type(cause(status, "http://f/x", headers, body)) is kind


def test_a_page_of_html_is_shortened_to_its_title() -> None:
    found = cause(500, "u", {}, "<html><head><title>Error 500 no\n luck</title></head>long</html>")
    assert found.reason == "Error 500 no luck"


WHEN = "Sun, 22 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("Sun, 22 Nov 2026 10:02:00 GMT", 120.0),
        ("Sun, 22 Nov 2026 09:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    found = cause(503, "u", {"Retry-After": value, "Date": WHEN}, "")
    assert isinstance(found, answers.Busy)
    assert found.after == seconds


@pytest.mark.parametrize(
    ("method", "status", "headers", "said"),
    [
        ("PUT", 200, {"Content-Type": "text/html"}, 'text/html "Sign in"'),
        ("GET", 200, {"Content-Type": "text/html"}, 'text/html "Sign in"'),
        ("GET", 404, {"Content-Type": "text/html"}, 'text/html "Sign in"'),
        ("POST", 302, {"Location": "https://sso.example.org"}, "redirects to https://sso"),
        ("HEAD", 204, {}, "an empty page"),
    ],
)
def test_an_answer_that_is_not_fedoras_is_told_by_what_it_is(
    method: str, status: int, headers: dict[str, str], said: str
) -> None:
    page = "<html><title>Sign in</title></html>"
    with pytest.raises(answers.NotOfThisKind, match=said):
        answers.check(method, "http://f/x", status, headers, lambda: page)


def test_a_time_map_is_read_in_order() -> None:
    listed = (
        '<http://f/x>; rel="original",\n<http://f/x/fcr:versions/20260102000000>; rel="memento"; '
        'datetime="Fri, 02 Jan 2026 00:00:00 GMT",\n<http://f/x/fcr:versions/20260101000000>; '
        'rel="memento"; datetime="Thu, 01 Jan 2026 00:00:00 GMT",\n'
        '<http://f/x/fcr:versions>; rel="self"; type="application/link-format"'
    )
    assert [memento.stamp for memento in mementos(listed)] == ["20260101000000", "20260102000000"]


def test_links_are_read_whatever_the_order_of_their_parameters() -> None:
    header = '<a>;type="x, y";rel="type", <b>; rel=type, <c>; rel="other"'
    assert linked(header, "type") == ("a", "b")


def test_digests_are_read() -> None:
    assert digests("sha-512=ABC, md5=12") == {"sha-512": "abc", "md5": "12"}


def test_descriptions_are_compared_as_graphs() -> None:
    one = b'<http://a> <http://p> _:x .\n_:x <http://q> "1" .\n'
    same = b'_:y <http://q> "1" .\n<http://a> <http://p> _:y .\n'
    other = b'_:y <http://q> "2" .\n<http://a> <http://p> _:y .\n'
    assert unlike(one, same, withdrawal=False) == ""
    assert "missing" in unlike(one, other, withdrawal=False)
    with pytest.raises(ValueError, match="N-Triples"):
        parsed(b"no triples")


def test_credentials_come_from_a_file_then_the_environment_then_netrc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "login"
    file.write_text("müller:ge:heim\n")
    file.chmod(0o600)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine f.example login net password rc\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    given = {"FEDORA_USER": "env", "FEDORA_PASSWORD": "ironment"}
    url = "http://f.example/rest"
    assert credentials(url, str(file), given) == ("müller".encode(), b"ge:heim")
    assert credentials(url, None, given) == (b"env", b"ironment")
    assert credentials(url, None, {}) == (b"net", b"rc")
    assert credentials("http://other.example/rest", None, {}) is None


@pytest.mark.parametrize("url", ["ftp://f.example/rest", "http://[::1", "rest"])
def test_no_fedora_is_looked_for_where_there_is_no_address(url: str) -> None:
    client: Any = None
    with pytest.raises(RemoteError, match="not an http or https address"):
        find_root(client, url)


def test_credentials_that_others_could_read_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("user:secret\n")
    file.chmod(0o644)
    with pytest.raises(CredentialsRefused, match="chmod 600"):
        credentials("http://f.example", str(file), {})
    file.chmod(0o600)
    file.write_text("nothing\n")
    with pytest.raises(CredentialsRefused, match="user:password"):
        credentials("http://f.example", str(file), {})
    with pytest.raises(CredentialsRefused, match="cannot be read"):
        credentials("http://f.example", str(tmp_path / "none"), {})
    for url in ("http://user:secret@f.example", "http://user:secret@[::1"):
        with pytest.raises(CredentialsRefused, match="contains credentials") as raised:
            credentials(url, None, {})
        assert "secret" not in str(raised.value)

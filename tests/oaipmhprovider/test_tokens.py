"""Resumption tokens: stateless, checked, and refused in one way (section 3.5)."""

import base64
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprotocol import BadResumptionToken, Set, Verb
from oaipmhprovider import Position, Selection, Settings, sample_repository
from oaipmhprovider.sample.mutable_source import MutableSource
from oaipmhprovider.tokens import Continuation, decode_token, encode_token

KEY = b"a key"
EXPIRES = datetime(2026, 3, 2, tzinfo=UTC)
BEFORE = EXPIRES - timedelta(seconds=1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
maybe = st.none() | texts
lists = st.builds(
    Continuation,
    st.sampled_from([Verb.LIST_RECORDS, Verb.LIST_IDENTIFIERS]),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.just(EXPIRES),
    st.builds(Selection, texts, maybe, maybe, maybe),
    st.builds(Position, texts, texts),
)
LIST = Continuation(
    Verb.LIST_RECORDS, 100, 3200, EXPIRES, Selection("oai_dc"), Position("2015-01-01", "oai:x:1")
)


@settings(deadline=None, derandomize=True)
@given(
    lists
    | st.builds(
        Continuation, st.just(Verb.LIST_SETS), st.integers(0), st.integers(0), st.just(EXPIRES)
    )
)
def test_a_token_says_again_what_was_written_into_it(continuation: Continuation) -> None:
    token = encode_token(continuation, KEY)
    assert decode_token(token, continuation.verb, BEFORE, KEY) == continuation


@settings(deadline=None, derandomize=True)
@given(lists)
def test_a_token_needs_no_escaping_in_a_url(continuation: Continuation) -> None:
    assert encode_token(continuation, KEY).replace("-", "").replace("_", "").isalnum()


@settings(deadline=None, derandomize=True)
@given(st.data())
def test_a_token_with_any_letter_changed_is_refused(data: Any) -> None:
    token = encode_token(LIST, KEY)
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda one: one != token[place]))
    with pytest.raises(BadResumptionToken):
        decode_token(token[:place] + letter + token[place + 1 :], LIST.verb, BEFORE, KEY)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(BadResumptionToken):
        decode_token(text, LIST.verb, BEFORE, KEY)


@pytest.mark.parametrize(
    "mangle",
    [
        str.lower,
        str.upper,
        lambda t: t[:-1],
        lambda t: t + "=",
        lambda t: t + " ",
        lambda t: " " + t,
        lambda t: t[1:],
    ],
)
def test_a_token_mangled_on_its_way_is_refused(mangle: Any) -> None:
    with pytest.raises(BadResumptionToken):
        decode_token(mangle(encode_token(LIST, KEY)), LIST.verb, BEFORE, KEY)


def test_a_token_is_good_until_the_moment_it_expires() -> None:
    token = encode_token(LIST, KEY)
    assert decode_token(token, LIST.verb, BEFORE, KEY) == LIST
    with pytest.raises(BadResumptionToken, match="expired"):
        decode_token(token, LIST.verb, EXPIRES, KEY)


def test_a_token_of_another_verb_or_key_is_refused() -> None:
    token = encode_token(LIST, KEY)
    with pytest.raises(BadResumptionToken, match="ListRecords"):
        decode_token(token, Verb.LIST_IDENTIFIERS, BEFORE, KEY)
    with pytest.raises(BadResumptionToken):
        decode_token(token, LIST.verb, BEFORE, b"another key")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        [],
        "text",
        [1],
        ["Identify", 1, 2, 3, None],
        ["ListRecords", "1", 2, 3, None, None],
        ["ListRecords", -1, 2, 3, None, None],
        ["ListRecords", 1, 2, 10**30, None, None],
        ["ListRecords", 1, 2, 3, [1, 2, 3, 4], None],
        ["ListRecords", 1, 2, 3, ["oai_dc"], None],
        ["ListRecords", 1, 2, 3, 7, None],
        ["ListRecords", 1, 2, 3, ["oai_dc", 1, None, None], ["a", "b"]],
        ["ListRecords", 1, 2, 3, ["oai_dc", None, None, None], ["a", 1]],
    ],
)
def test_a_token_forged_by_someone_who_has_the_key_is_read_with_care(fields: Any) -> None:
    payload = json.dumps(fields).encode()
    check = hashlib.blake2b(payload, key=KEY, digest_size=9).digest()
    token = base64.urlsafe_b64encode(check + payload).rstrip(b"=").decode()
    with pytest.raises(BadResumptionToken):
        decode_token(token, LIST.verb, datetime(1970, 1, 1, tzinfo=UTC), KEY)


def first_token(ask: Any, verb: str = "ListRecords") -> str:
    page = ask(verb=verb, metadataPrefix="oai_dc")
    return str(page.findtext(f"{{*}}{verb}/{{*}}resumptionToken"))


def test_an_expired_token_is_a_bad_resumption_token(asker: Any) -> None:
    ask = asker(sample_repository(50), Settings(page_size=20, token_lifetime=timedelta(hours=1)))
    token = first_token(ask)
    ask.now += timedelta(minutes=59)
    assert ask.codes(verb="ListRecords", resumptionToken=token) == []
    ask.now += timedelta(minutes=1)
    assert ask.codes(verb="ListRecords", resumptionToken=token) == ["badResumptionToken"]


def test_a_token_can_be_sent_again_and_to_another_worker(asker: Any) -> None:
    ask = asker(sample_repository(50), Settings(page_size=20))
    token = first_token(ask)
    other = asker(sample_repository(50), Settings(page_size=20))
    texts = [
        one(verb="ListRecords", resumptionToken=token).xpath("string()")
        for one in (ask, ask, other)
    ]
    assert texts[0] == texts[1] == texts[2]


def test_a_token_of_records_is_none_of_identifiers_nor_of_sets(asker: Any) -> None:
    ask = asker(sample_repository(50), Settings(page_size=20))
    token = first_token(ask)
    for verb in ("ListIdentifiers", "ListSets"):
        assert ask.codes(verb=verb, resumptionToken=token) == ["badResumptionToken"]


def test_a_token_over_sets_that_have_changed_is_refused(asker: Any) -> None:
    source = MutableSource(sample_repository(10))
    ask = asker(source, Settings(sets_page_size=10))
    token = ask(verb="ListSets").findtext("{*}ListSets/{*}resumptionToken")
    source.add_set(Set("new", "New"))
    assert ask.codes(verb="ListSets", resumptionToken=token) == ["badResumptionToken"]


def test_a_token_after_which_nothing_is_left_is_refused(asker: Any) -> None:
    source = sample_repository(30)
    last = source.headers(Selection("oai_dc"), None, 30)[-1]
    place = replace(LIST, cursor=30, size=30, after=Position.of(last))
    settings = Settings()
    ask = asker(source, settings)
    ask.now = BEFORE
    token = encode_token(place, settings.token_key)
    assert ask.codes(verb="ListRecords", resumptionToken=token) == ["badResumptionToken"]

"""Listed identifiers: each counted once, in little memory."""

from collections import Counter
from sys import getsizeof

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhprotocol import Header, Record
from oaipmhscraper.lists.listed_identifiers import ListedIdentifiers
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.silo_writer import PageOutcome

identifiers = st.text(max_size=12)


@given(st.lists(st.lists(identifiers, max_size=20), max_size=12))
def test_a_set_of_identifiers_says_what_is_new_as_a_set_does(batches):
    known, expected = IdentifierSet(), set()
    for batch in batches:
        news = known.add_all(batch)
        for identifier, is_new in zip(batch, news, strict=True):
            assert is_new == (identifier not in expected)
            expected.add(identifier)
        assert len(known) == len(expected)
    assert all(one in known for one in expected)
    assert 7 not in known


@pytest.mark.long
def test_many_identifiers_are_told_apart_and_take_little_room():
    known = IdentifierSet()
    for begin in range(0, 200_000, 500):
        assert all(known.add_all([f"oai:x:{n}" for n in range(begin, begin + 500)]))
    assert len(known) == 200_000
    assert not any(known.add_all([f"oai:x:{n}" for n in range(0, 200_000, 777)]))
    assert "oai:x:200000" not in known
    assert not known.add("oai:x:199999")
    assert sum(map(getsizeof, known._buckets)) <= 200_000 * 9


def page(*identifiers, set_aside=()):
    items = tuple(Record(Header(one, "2010-01-01"), b"<a/>") for one in identifiers)
    return ListPage(items, set_aside=tuple(set_aside))


def stored(*identifiers, outcome=Outcome.NEW):
    return PageOutcome(tuple((one, outcome) for one in identifiers), len(identifiers))


def broken(identifier="", raw=b"<record"):
    return SetAside(identifier, "cannot be read", "record 1", raw)


def test_what_stands_twice_is_a_duplicate_and_counts_once():
    listed = ListedIdentifiers()
    first = listed.count(page("a", "b", "a"), stored("a", "b", "a"))
    assert first.outcomes == Counter({Outcome.NEW: 2, Outcome.DUPLICATE: 1})
    second = listed.count(page("a", "c"), stored("a", "c"))
    assert second.outcomes == Counter({Outcome.NEW: 1, Outcome.DUPLICATE: 1})
    assert len(second.digests) == 8


def test_what_we_ask_for_again_is_no_duplicate():
    listed = ListedIdentifiers()
    listed.count(page("a"), stored("a"))
    again = listed.count(page("a", "b"), stored("a", "b"), relists=True)
    assert again.outcomes == Counter({Outcome.NEW: 1})


def test_a_record_that_was_lost_and_is_had_after_all_changes_its_place():
    listed = ListedIdentifiers()
    lost = listed.count(page(set_aside=[broken("a")]), stored())
    assert lost.outcomes == Counter({Outcome.QUARANTINED: 1})
    assert [loss.what.identifier for loss in listed.losses] == ["a"]
    assert "a" not in listed.stored
    found = listed.count(page("a"), stored("a"), relists=True)
    assert found.outcomes == Counter({Outcome.NEW: 1, Outcome.QUARANTINED: -1})
    assert found.found == ("a",)
    assert listed.losses == ()
    assert "a" in listed.stored


def test_records_without_an_identifier_are_told_apart_by_their_bytes():
    listed = ListedIdentifiers()
    one, other = broken(raw=b"<record>1"), broken(raw=b"<record>2")
    assert listed.count(page(set_aside=[one, other]), stored()).outcomes[Outcome.QUARANTINED] == 2
    again = listed.count(page(set_aside=[one]), stored(), relists=True)
    assert again.outcomes == Counter()


def test_an_unreachable_record_is_lost_and_named():
    listed = ListedIdentifiers()
    tally = listed.count(page(), stored(), [SetAside("a", "cannot be had", "GetRecord")])
    assert tally.outcomes == Counter({Outcome.UNREACHABLE: 1})
    assert tally.lost[0].kind is Outcome.UNREACHABLE


@given(st.lists(st.lists(st.sampled_from("abcdef"))), st.lists(st.lists(st.sampled_from("abcdef"))))
def test_a_ledger_goes_on_from_what_was_noted(before, after):
    whole, noted = ListedIdentifiers(), []
    for names in before:
        noted.append(whole.count(page(*names), stored(*names)).digests)
    resumed = ListedIdentifiers(noted)
    for names in after:
        one = whole.count(page(*names), stored(*names))
        other = resumed.count(page(*names), stored(*names))
        assert one == other

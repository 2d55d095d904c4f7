"""Changes published over the sample repository, as a harvester meets them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from oaipmhprotocol import CannotDisseminateFormat, Header, IdDoesNotExist, Record, Set
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprovider import Position, Selection, Settings, sample_repository
from oaipmhprovider.sample import SampleRepository
from oaipmhprovider.sample.mutable_source import MutableSource

LATER = datetime(2026, 1, 5, 10, 0, 0, tzinfo=UTC)
NEW = "oai:eprints.example.org:new"
DOCUMENT = (
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    b' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>New</dc:title></oai_dc:dc>'
)
ALL = Selection("oai_dc")


@pytest.fixture
def base() -> SampleRepository:
    return sample_repository(60)


@pytest.fixture
def source(base: SampleRepository) -> MutableSource:
    return MutableSource(base)


def first(source: Any, *, deleted: bool = False, prefix: str = "oai_dc") -> Header:
    headers = source.headers(Selection(prefix), None, 60)
    return next(one for one in headers if one.deleted is deleted)


def test_untouched_it_is_the_source_underneath(base: Any, source: Any) -> None:
    assert source.records(ALL, None, 100) == base.records(ALL, None, 100)
    assert source.count(ALL) == base.count(ALL) == 60
    assert source.sets() == list(base.sets())
    assert source.identify() == base.identify()


def test_a_revised_record_moves_to_its_new_datestamp(source: Any) -> None:
    old = first(source)
    header = source.revise(
        old.identifier, LATER, lambda text: text.replace(b"</dc:title>", b"!</dc:title>", 1)
    )
    assert header.datestamp == "2026-01-05T10:00:00Z"
    assert header.set_specs == old.set_specs
    listed = source.headers(ALL, None, 100)
    assert listed[-1] == header
    assert len(listed) == source.count(ALL) == 60
    since = Selection("oai_dc", from_="2026-01-01T00:00:00Z")
    (record,) = source.records(since, None, 10)
    assert b"!</dc:title>" in record.metadata


def test_a_record_touched_keeps_its_content(base: Any, source: Any) -> None:
    old = first(source, prefix="uketd_dc")
    source.revise(old.identifier, LATER)
    for prefix in ("oai_dc", "uketd_dc"):
        kept = source.record(old.identifier, prefix)
        assert kept.metadata == base.record(old.identifier, prefix).metadata
    assert source.count(Selection("uketd_dc")) == base.count(Selection("uketd_dc"))


def test_a_deleted_record_keeps_its_formats_and_sets(source: Any) -> None:
    old = first(source, prefix="pmc_fm")
    header = source.delete(old.identifier, LATER)
    assert header.deleted
    assert header.set_specs == old.set_specs
    for prefix in ("oai_dc", "pmc_fm"):
        assert source.record(old.identifier, prefix) == Record(header)
        assert source.headers(Selection(prefix), None, 100)[-1] == header


def test_a_record_deleted_here_comes_back_as_it_was(base: Any, source: Any) -> None:
    old = first(source)
    source.delete(old.identifier, LATER)
    header = source.restore(old.identifier, LATER + timedelta(days=1))
    assert not header.deleted
    back = source.record(old.identifier, "oai_dc")
    assert back.metadata == base.record(old.identifier, "oai_dc").metadata
    assert back.header.datestamp == "2026-01-06T10:00:00Z"


def test_a_record_deleted_underneath_can_only_be_published_again(source: Any) -> None:
    gone = first(source, deleted=True)
    with pytest.raises(IdDoesNotExist, match="nothing to bring"):
        source.restore(gone.identifier, LATER)
    with pytest.raises(IdDoesNotExist, match="deleted"):
        source.revise(gone.identifier, LATER)
    header = source.publish(gone.identifier, {"oai_dc": DOCUMENT}, LATER)
    assert header.set_specs == gone.set_specs
    assert source.record(gone.identifier, "oai_dc").metadata == DOCUMENT


def test_what_does_not_exist_cannot_be_changed(source: Any) -> None:
    for change in (source.delete, source.restore, source.revise):
        with pytest.raises(IdDoesNotExist):
            change("oai:eprints.example.org:none", LATER)
    assert source.count(ALL) == 60


def test_a_new_record_is_in_the_sets_and_formats_it_is_published_with(
    asker: Any, source: Any
) -> None:
    source.add_set(Set("new:sub", "New"))
    source.publish(NEW, {"oai_dc": DOCUMENT}, LATER, set_specs=("new:sub",), about=(DOCUMENT,))
    ask = asker(source)
    assert ask.identifiers("ListRecords", metadataPrefix="oai_dc", set="new") == [NEW]
    answer = ask(verb="GetRecord", identifier=NEW, metadataPrefix="oai_dc")
    assert answer.find(".//{*}about") is not None
    with pytest.raises(CannotDisseminateFormat):
        source.record(NEW, "uketd_dc")
    assert source.sets()[-1] == Set("new:sub", "New")


def test_a_set_can_be_renamed(source: Any) -> None:
    source.add_set(Set("openaire", "Renamed"))
    assert [one.name for one in source.sets() if one.spec == "openaire"] == ["Renamed"]


def test_an_item_can_lose_a_format(source: Any) -> None:
    old = first(source, prefix="uketd_dc")
    before = source.count(Selection("uketd_dc"))
    source.publish(old.identifier, {"oai_dc": DOCUMENT}, LATER)
    assert source.count(Selection("uketd_dc")) == before - 1
    assert [one.prefix for one in source.formats_of(old.identifier)] == ["oai_dc"]


def test_the_earliest_datestamp_stays_true(source: Any) -> None:
    source.publish(NEW, {"oai_dc": DOCUMENT}, datetime(2001, 2, 3, tzinfo=UTC))
    assert source.identify().earliest_datestamp == "2001-02-03T00:00:00Z"


def test_a_record_changed_while_a_list_is_paged_is_met_at_its_end(asker: Any, source: Any) -> None:
    ask = asker(source, Settings(page_size=20))
    pages = ask.pages("ListIdentifiers", metadataPrefix="oai_dc")
    seen = [one.text for one in next(pages).iter("{*}identifier")]
    changed = source.headers(ALL, None, 60)[45]
    source.revise(changed.identifier, LATER)
    seen += [one.text for page in pages for one in page.iter("{*}identifier")]
    assert len(seen) == len(set(seen)) == 60
    assert seen[-1] == changed.identifier


def test_a_day_as_until_or_from_has_its_first_and_its_last_second(asker: Any, source: Any) -> None:
    ask = asker(source)
    for moment in (datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 5, 23, 59, 59, tzinfo=UTC)):
        source.publish(NEW, {"oai_dc": DOCUMENT}, moment)
        asked = {"metadataPrefix": "oai_dc", "from": "2026-01-05", "until": "2026-01-05"}
        assert ask.identifiers(**asked) == [NEW]


class Model(RuleBasedStateMachine):
    """Whatever is published, lists are what a plain dictionary says they are."""

    def __init__(self) -> None:
        super().__init__()
        base = sample_repository(25)
        self.source = MutableSource(base)
        self.model = {
            prefix: {one.identifier: one for one in base.headers(Selection(prefix), None, 25)}
            for prefix in ("oai_dc", "uketd_dc", "pmc_fm")
        }

    numbers = st.integers(2998, 3026).map("oai:eprints.example.org:{}".format)
    moments = st.datetimes(datetime(2014, 1, 1), datetime(2027, 1, 1)).map(  # noqa: DTZ001 - zone added below
        lambda moment: moment.replace(tzinfo=UTC)
    )

    def known(self, identifier: str) -> Header | None:
        return self.model["oai_dc"].get(identifier)

    def put(self, identifier: str, header: Header, prefixes: set[str]) -> None:
        for prefix, listed in self.model.items():
            listed.pop(identifier, None)
            if prefix in prefixes:
                listed[identifier] = header

    @rule(identifier=numbers, moment=moments, thesis=st.booleans())
    def publish(self, identifier: str, moment: datetime, thesis: bool) -> None:
        prefixes = {"oai_dc", "uketd_dc"} if thesis else {"oai_dc"}
        header = self.source.publish(identifier, dict.fromkeys(prefixes, DOCUMENT), moment)
        known = self.known(identifier)
        stamp = format_datestamp(moment, self.source.identify().granularity)
        assert header == Header(identifier, stamp, known.set_specs if known else ())
        self.put(identifier, header, prefixes)

    @rule(identifier=numbers, moment=moments)
    def delete(self, identifier: str, moment: datetime) -> None:
        prefixes = {prefix for prefix, listed in self.model.items() if identifier in listed}
        if prefixes:
            self.put(identifier, self.source.delete(identifier, moment), prefixes)

    @invariant()
    def lists_are_the_model(self) -> None:
        for prefix, listed in self.model.items():
            selection = Selection(prefix, from_="2015-06-01T00:00:00Z")
            expected = sorted(filter(selection.matches, listed.values()), key=Position.of)
            assert self.source.count(selection) == len(expected)
            got: list[Header] = []
            while page := self.source.headers(selection, Position.of(got[-1]) if got else None, 7):
                got += page
            assert got == expected


Model.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
TestModel = Model.TestCase

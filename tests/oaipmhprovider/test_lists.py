"""Selective harvesting and flow control: sections 2.7 and 3.5."""

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprotocol import Granularity, Header
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprovider import Position, Selection, Settings, sample_repository
from oaipmhprovider.sample import SampleRepository
from oaipmhprovider.sample.sets import hex_spec

PREFIXES = ("oai_dc", "uketd_dc", "pmc_fm")
SETS = (
    None,
    hex_spec("status", "pub"),
    hex_spec("subjects", "Q"),
    hex_spec("subjects", "Q", "QA"),
    hex_spec("subjects", "Q", "QA", "QA75"),
    hex_spec("type", "thesis"),
    "openaire",
    "open",
)


def whole(source: SampleRepository, prefix: str) -> list[Header]:
    """The headers of a format, from one item after the other, by GetRecord's way."""
    every = source.headers(Selection("oai_dc"), None, source.size)
    return [
        source.record(header.identifier, prefix).header
        for header in every
        if prefix in {one.prefix for one in source.formats_of(header.identifier)}
    ]


def wanted(header: Header, from_: str | None, until: str | None, set_spec: str | None) -> bool:
    """What the specification says is selected, written out once more."""
    if from_ is not None and header.datestamp[: len(from_)] < from_:
        return False
    if until is not None and header.datestamp[: len(until)] > until:
        return False
    levels = [spec.split(":") for spec in header.set_specs]
    path = set_spec.split(":") if set_spec is not None else []
    return set_spec is None or any(level[: len(path)] == path for level in levels)


moments = st.datetimes(datetime(2014, 8, 1), datetime(2025, 5, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone


@pytest.fixture(scope="module", params=list(Granularity))
def small(request: Any) -> SampleRepository:
    return sample_repository(400, granularity=request.param)


@pytest.mark.long
@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(
    prefix=st.sampled_from(PREFIXES),
    set_spec=st.sampled_from(SETS),
    bounds=st.tuples(st.none() | moments, st.none() | moments),
    asked=st.sampled_from(Granularity),
    data=st.data(),
)
def test_a_selective_list_holds_what_a_filter_of_everything_holds(
    asker: Any,
    small: SampleRepository,
    prefix: str,
    set_spec: str | None,
    bounds: tuple[datetime | None, datetime | None],
    asked: Granularity,
    data: Any,
) -> None:
    if small.identify().granularity is Granularity.DAY:
        asked = Granularity.DAY
    every = whole(small, prefix)
    exact = st.sampled_from([header.datestamp for header in every])
    texts = [format_datestamp(moment, asked) if moment else None for moment in bounds]
    if asked is small.identify().granularity and data.draw(st.booleans()):
        texts[0] = data.draw(exact)
    from_, until = texts
    if from_ and until and from_ > until:
        from_, until = until, from_
    given_ = {"from": from_, "until": until, "set": set_spec}
    arguments = {name: text for name, text in given_.items() if text is not None}
    ask = asker(small, Settings(page_size=90))
    expected = [one.identifier for one in every if wanted(one, from_, until, set_spec)]
    if expected:
        assert ask.identifiers(metadataPrefix=prefix, **arguments) == expected
    else:
        codes = ask.codes(verb="ListIdentifiers", metadataPrefix=prefix, **arguments)
        assert codes == ["noRecordsMatch"]


@pytest.mark.parametrize("verb", ["ListRecords", "ListIdentifiers"])
@pytest.mark.parametrize("page_size", [1, 7, 99, 100, 101, 1000])
def test_paging_yields_every_record_once_and_says_where_it_is(
    asker: Any, verb: str, page_size: int
) -> None:
    source = sample_repository(100)
    pages = list(asker(source, Settings(page_size=page_size)).pages(verb, metadataPrefix="oai_dc"))
    lists = [
        [one.text for one in page.iter("{*}identifier") if one.getparent().tag.endswith("header")]
        for page in pages
    ]
    tokens = [page.find(f"{{*}}{verb}/{{*}}resumptionToken") for page in pages]
    assert list(chain.from_iterable(lists)) == [one.identifier for one in whole(source, "oai_dc")]
    assert all(len(one) == page_size for one in lists[:-1])
    if page_size >= 100:
        assert tokens == [None]
        return
    assert {token.get("completeListSize") for token in tokens} == {"100"}
    assert [int(token.get("cursor")) for token in tokens] == list(range(0, 100, page_size))
    assert tokens[-1].text is None
    assert tokens[-1].get("expirationDate") is None
    expiry = format_datestamp(asker(source).now + timedelta(days=1), Granularity.SECOND)
    assert {token.get("expirationDate") for token in tokens[:-1]} == {expiry}


@pytest.mark.parametrize("sizes", [{"page_size": 0}, {"sets_page_size": -1}])
def test_an_answer_that_would_hold_nothing_is_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="page sizes"):
        Settings(**sizes)  # type: ignore[arg-type]  # whole numbers, both


def test_the_order_of_a_list_is_by_datestamp_then_identifier(repository: SampleRepository) -> None:
    headers = repository.headers(Selection("oai_dc"), None, repository.size)
    positions = [Position.of(header) for header in headers]
    assert positions == sorted(positions)
    assert len(set(positions)) == repository.size


def test_a_position_need_not_be_of_a_record(repository: SampleRepository) -> None:
    headers = repository.headers(Selection("oai_dc"), None, 20)
    tenth = headers[9]
    between = Position(tenth.datestamp, tenth.identifier + "!")
    assert repository.headers(Selection("oai_dc"), between, 10) == headers[10:]
    assert repository.headers(Selection("oai_dc"), Position("2014", ""), 5) == headers[:5]
    assert repository.headers(Selection("oai_dc"), Position("2999", ""), 5) == []


def test_headers_and_records_list_the_same(repository: SampleRepository) -> None:
    selection = Selection("pmc_fm", set_spec=hex_spec("subjects", "Q"))
    headers = repository.headers(selection, None, 50)
    records = repository.records(selection, None, 50)
    assert [record.header for record in records] == headers


def test_a_list_of_sets_is_sent_in_parts_too(asker: Any, repository: SampleRepository) -> None:
    pages = list(asker(repository, Settings(sets_page_size=25)).pages("ListSets"))
    specs = [one.text for page in pages for one in page.iter("{*}setSpec")]
    assert specs == [one.spec for one in repository.sets()]
    assert len(specs) == len(set(specs)) > 50
    cursors = [page.find("{*}ListSets/{*}resumptionToken").get("cursor") for page in pages]
    assert cursors == [str(n) for n in range(0, len(specs), 25)]
    assert pages[-1].findtext("{*}ListSets/{*}resumptionToken") == ""


def test_a_list_of_deleted_records_has_their_headers_alone(ask: Any) -> None:
    page = ask(verb="ListRecords", metadataPrefix="oai_dc")
    deleted = [one for one in page.iter("{*}record") if one.find("{*}header").get("status")]
    kept = [one for one in page.iter("{*}record") if not one.find("{*}header").get("status")]
    assert deleted
    assert all(len(record) == 1 for record in deleted)
    assert all(record.find("{*}metadata") is not None for record in kept)

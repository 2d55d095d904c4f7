"""Faults of records: 50 to 57 (OAI-PMH 2.0, section 2.5)."""

import re
from dataclasses import replace
from datetime import timedelta

from misbehaving.faults import POISONED, fault, no_list_size, pages_with
from misbehaving.repository import Condition, Repository, changed, identifier, sample_items


def _metadata_of_one(repository: Repository, metadata: str) -> None:
    @changed(repository, "record")
    def record(step, item):
        text = step(item)
        if item.number != POISONED:
            return text
        return re.sub("<metadata>.*</metadata>", metadata, text, flags=re.DOTALL)


@fault(50, lost=[POISONED])
def a_record_without_metadata(repository: Repository) -> None:
    """50: one record is neither deleted nor has it metadata."""
    _metadata_of_one(repository, "")


@fault(50, titles={identifier(POISONED): None})
def a_record_with_empty_metadata(repository: Repository) -> None:
    """50: one record's metadata element is empty."""
    _metadata_of_one(repository, "<metadata/>")


@fault(50, titles={identifier(POISONED): None})
def a_record_with_a_comment_only(repository: Repository) -> None:
    """50: one record's metadata element holds a comment."""
    _metadata_of_one(repository, "<metadata><!-- no access --></metadata>")


@fault(51)
def deleted_records_with_metadata(repository: Repository) -> None:
    """51: deleted records have metadata all the same."""

    @changed(repository, "record")
    def record(step, item):
        return step(replace(item, deleted=False)).replace(
            "<header>", '<header status="deleted">' if item.deleted else "<header>"
        )


@fault(51)
def deleted_records_without_datestamp(repository: Repository) -> None:
    """51: deleted records have no datestamp (Zenodo)."""

    @changed(repository, "datestamp")
    def datestamp(step, item):
        return "" if item.deleted else step(item)


@fault(53)
def duplicates_across_pages(repository: Repository) -> None:
    """53: each page begins with the record that ended the one before."""

    @changed(repository, "page")
    def page(step, place):
        found = step(place)
        before = tuple(repository.chosen(place)[place.begin - 1 : place.begin])
        return found if not place.begin else _Overlapping(place, before + found.items, found.total)


class _Overlapping:
    """A page whose first item is another one's as well."""

    def __init__(self, place, items, total):
        self.place, self.items, self.total = place, items, total
        self.end = place.begin + len(items) - 1
        self.following = replace(place, begin=self.end)

    def holds(self, *numbers):
        return any(item.number in numbers for item in self.items)


@fault(54)
def list_shifts_while_paging(repository: Repository) -> None:
    """54: a record changes while the list is sent, moves to its end, and one is skipped."""
    shifted: list[bool] = []

    @changed(repository, "next_token")
    def next_token(step, page):
        text = step(page)
        if page.place.begin == 10 and page.total > 20 and not shifted:
            shifted.append(True)
            late = repository.items[-1].datestamp + timedelta(days=1)
            repository.items = [
                replace(item, datestamp=late) if item.number == 3 else item
                for item in repository.items
            ]
        return text


@fault(55, lost=[POISONED], unnamed=True)
def a_record_without_identifier(repository: Repository) -> None:
    """55: one record's identifier is empty."""

    @changed(repository, "header")
    def header(step, item):
        text = step(item)
        return text.replace(item.identifier, "") if item.number == POISONED else text


def _without_end(repository: Repository, verb: str, entries) -> None:
    """Every page of a verb has these entries, and leads to another page."""

    @changed(repository, "page")
    def page(step, place):
        return step(replace(place, begin=0) if place.verb == verb else place)

    @changed(repository, "listing")
    def listing(step, place):
        if place.verb != verb:
            return step(place)
        following = replace(place, mark=repository.next_serial())
        token = f"<resumptionToken>{repository.write_token(following)}</resumptionToken>"
        return entries(place, token)


@fault(55, unnamed=True)
def pages_of_unusable_records(repository: Repository) -> None:
    """55: ListRecords gives records without an identifier, and a new token, for ever."""
    record = "<record><header><identifier/><datestamp>2010-01-01</datestamp></header>{}</record>"

    def entries(place, token):
        records = "".join(record.format(repository.next_serial()) for _ in range(5))
        return repository.element("ListRecords", records + token)

    _without_end(repository, "ListRecords", entries)


@fault(48, doubted=True)
def records_sent_for_identifiers(repository: Repository) -> None:
    """48: ListIdentifiers is answered as ListRecords, for ever; ListRecords gives no size."""
    no_list_size(repository)

    def entries(place, token):
        records = "".join(map(repository.record, repository.items[:10]))
        return repository.element("ListRecords", records + token)

    _without_end(repository, "ListIdentifiers", entries)


AWKWARD = {
    3: "http://hdl.example/1 2/3:0003",
    14: "../../../etc/passwd:0014",
    23: f"oai:long.example:{'x' * 300}:0023",
    24: "oai:é ünïcode&<>\"':%2F+:0024",
    45: "info:hdl/2027/^a~b?c=d#e=,.:0045",
}


@fault(55, lost=AWKWARD, extra=frozenset(AWKWARD.values()))
def awkward_identifiers(repository: Repository) -> None:
    """55: identifiers with blanks, slashes, dots and 300 letters."""
    repository.items = [
        replace(item, identifier=AWKWARD.get(item.number, item.identifier))
        for item in sample_items()
    ]


@fault(57, lost=[POISONED])
def a_record_without_the_format(repository: Repository) -> None:
    """57: cannotDisseminateFormat for every page with one certain record, and for it."""

    def refuse() -> str:
        raise Condition("cannotDisseminateFormat")

    pages_with(repository, POISONED, "ListRecords GetRecord", refuse)

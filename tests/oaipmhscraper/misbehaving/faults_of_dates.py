"""Faults of datestamps, sets and Identify: 58 to 70 (OAI-PMH 2.0, sections 2.7 and 4.2)."""

import random
from dataclasses import replace
from datetime import datetime, timedelta

from misbehaving.faults import fault, no_list_size
from misbehaving.faults_of_tokens import list_ends_after_two_pages
from misbehaving.repository import (
    DAYS,
    SECONDS,
    Condition,
    Instead,
    Repository,
    changed,
    html,
)


def _identify(repository: Repository, **fields: str | None) -> None:
    """Change what Identify says; None leaves a field out."""

    @changed(repository, "identify")
    def identify(step):
        said = {**step(), **fields}
        return {name: value for name, value in said.items() if value is not None}


def _bounds_refused(repository: Repository, wrong) -> None:
    """badArgument for places that `wrong` finds wrong."""

    @changed(repository, "check_window")
    def check_window(step, place):
        step(place)
        if wrong(place):
            raise Condition("badArgument", "from or until")


@fault(58)
def datestamps_in_every_form(repository: Repository) -> None:
    """58: datestamps with fractions, offsets, a blank for T, or without Z."""
    forms = ["%Y-%m-%dT%H:%M:%S.123Z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S+00:00",
             "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%MZ"]  # fmt: skip

    @changed(repository, "datestamp")
    def datestamp(step, item):
        text = item.datestamp.strftime(forms[item.number % len(forms)])
        return f"<datestamp>{text}</datestamp>"


@fault(59)
def datestamps_of_nought(repository: Repository) -> None:
    """59: one record's datestamp is 0000-00-00, another's empty, a third has none."""
    forms = {23: "<datestamp>0000-00-00</datestamp>", 24: "<datestamp/>", 25: ""}

    @changed(repository, "datestamp")
    def datestamp(step, item):
        return forms.get(item.number, step(item))


@fault(59)
def no_earliest_datestamp(repository: Repository) -> None:
    """59: earliestDatestamp is empty."""
    _identify(repository, earliestDatestamp="")


@fault(60)
def earliest_datestamp_too_late(repository: Repository) -> None:
    """60: earliestDatestamp is when the server was started, and an earlier from is refused."""
    _identify(repository, earliestDatestamp="2012-05-31T00:00:00Z")
    _bounds_refused(repository, lambda place: place.from_ and place.from_ < "2012-05-31")


@fault(61)
def earliest_datestamp_of_year_1(repository: Repository) -> None:
    """61: earliestDatestamp is 0001-01-01T00:00:00Z."""
    _identify(repository, earliestDatestamp="0001-01-01T00:00:00Z")


@fault(61)
def earliest_datestamp_of_1970(repository: Repository) -> None:
    """61: earliestDatestamp is the beginning of Unix."""
    _identify(repository, earliestDatestamp="1970-01-01T00:00:00Z")


@fault(62)
def days_only(repository: Repository) -> None:
    """62, as it may be: days, said so, and seconds refused; many records have the same day."""
    repository.granularity = DAYS
    _bounds_refused(repository, lambda place: len(place.from_ + place.until) > 20)


@fault(62)
def seconds_said_days_taken(repository: Repository) -> None:
    """62: Identify says seconds and the datestamps have them; from and until must not."""
    _bounds_refused(repository, lambda place: "T" in place.from_ + place.until)


@fault(62)
def seconds_taken_for_days(repository: Repository) -> None:
    """62: seconds in from and until are taken, and only the day of them is looked at."""

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return step(item, from_[:10], until[:10])


@fault(62)
def granularity_in_other_letters(repository: Repository) -> None:
    """62: the granularity is written in small letters."""
    _identify(repository, granularity="yyyy-mm-ddthh:mm:ssz")


@fault(63)
def windows_refused(repository: Repository) -> None:
    """63: from and until are badArgument (zvdd.org)."""
    _bounds_refused(repository, lambda place: place.from_ or place.until)


@fault(63)
def half_windows_refused(repository: Repository) -> None:
    """63: from without until, or until without from, is badArgument."""
    _bounds_refused(repository, lambda place: bool(place.from_) != bool(place.until))


@fault(63)
def windows_ignored(repository: Repository) -> None:
    """63: from and until change nothing."""

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return True


@fault(63)
def windows_ignored_and_lists_break_off(repository: Repository) -> None:
    """63: from and until change nothing, records are minutes apart, ListRecords fails after 20."""
    windows_ignored(repository)
    first = repository.items[0].datestamp
    repository.items = [
        replace(item, datestamp=first + timedelta(minutes=item.number)) for item in repository.items
    ]

    @changed(repository, "page")
    def page(step, place):
        if place.begin >= 20 and place.verb == "ListRecords":
            raise Instead(html(500))
        return step(place)


@fault(63)
def windows_of_another_date(repository: Repository) -> None:
    """63: from and until look at a date that no header shows: 1600 to 2009, or none (pycsw)."""

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        if item.number % 4 == 0:
            return not from_ and not until
        published = datetime(1600 + item.number * 7, 1, 1, tzinfo=item.datestamp.tzinfo)
        return step(replace(item, datestamp=published), from_, until)


@fault(63)
def windows_with_neighbours(repository: Repository) -> None:
    """63: what lies a day before or after a window is listed as well."""

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        days = (timedelta(days=n) for n in (-1, 0, 1))
        return any(
            step(replace(item, datestamp=item.datestamp + day), from_, until) for day in days
        )


@fault(64)
def until_is_exclusive(repository: Repository) -> None:
    """64: what changed in the very second of until is not listed."""

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        text = item.datestamp.strftime(SECONDS)
        return step(item, from_, until) and (not until or text[: len(until)] < until)


@fault(66)
def in_no_order(repository: Repository) -> None:
    """66: lists are not in the order of their datestamps."""

    @changed(repository, "chosen")
    def chosen(step, place):
        found = step(place)
        random.Random(1).shuffle(found)
        return found


@fault(66)
def clock_of_2003(repository: Repository) -> None:
    """66: the server's clock is years behind its own records."""
    repository.now = datetime(2003, 1, 1, tzinfo=repository.now.tzinfo)


@fault(67)
def no_records_match_in_mid_list(repository: Repository) -> None:
    """67: the third page of every list is noRecordsMatch, though there are more."""

    @changed(repository, "entries")
    def entries(step, page):
        if page.place.begin == 20:
            raise Condition("noRecordsMatch")
        return step(page)


@fault(67, arguments={"set_spec": "gone"}, doubted=True, listed=frozenset())
def a_set_that_is_gone(repository: Repository) -> None:
    """67: a set that there is no more: noRecordsMatch, as for an empty one."""


def _verb_fails(repository: Repository, verb: str, reply) -> None:
    @changed(repository, "content")
    def content(step, asked):
        if asked.verb == verb:
            raise Instead(reply)
        return step(asked)


@fault(68)
def sets_fail(repository: Repository) -> None:
    """68: ListSets is HTTP 500, and is not needed."""
    _verb_fails(repository, "ListSets", html(500))


@fault(69)
def identifiers_fail(repository: Repository) -> None:
    """69: ListIdentifiers is HTTP 500, and is not needed."""
    _verb_fails(repository, "ListIdentifiers", html(500))


@fault(69, arguments={"set_spec": "physics"}, listed=frozenset(range(1, 56, 2)))
def identifiers_know_no_sets(repository: Repository) -> None:
    """69: ListIdentifiers with a set finds nothing; ListRecords ends early and needs it."""
    list_ends_after_two_pages(repository)
    no_list_size(repository)

    @changed(repository, "listing")
    def listing(step, place):
        if place.verb == "ListIdentifiers" and place.set_spec:
            raise Condition("noRecordsMatch")
        return step(place)


@fault(70)
def identify_fails(repository: Repository) -> None:
    """70: Identify is HTTP 500."""
    _verb_fails(repository, "Identify", html(500))


@fault(70)
def identify_is_html(repository: Repository) -> None:
    """70: Identify is a page for people."""
    _verb_fails(repository, "Identify", html())


@fault(70)
def identify_says_next_to_nothing(repository: Repository) -> None:
    """70: Identify lacks granularity, earliestDatestamp and deletedRecord; its baseURL is wrong."""
    _identify(
        repository,
        granularity=None,
        earliestDatestamp=None,
        deletedRecord=None,
        baseURL="http://localhost/wrong",
    )

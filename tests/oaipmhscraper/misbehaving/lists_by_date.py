"""A repository of 2,400 records, four a day, whose lists need care with dates or are dead."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from misbehaving.repository import Condition, Repository, changed, html, many_items

A_DAY = 4


def repository_by_date(*plants, size: int = 2400) -> Repository:
    """So many records in pages of 25, with faults of this module."""
    repository = Repository()
    repository.items = many_items(size, apart=timedelta(days=1) / A_DAY)
    repository.page_size = 25
    for plant in plants:
        plant(repository)
    return repository


def list_records_is_dead(repository: Repository) -> None:
    """ListRecords is always answered with status 500; the other verbs work."""

    @changed(repository, "reply")
    def reply(step, asked):
        return html(500) if asked.verb == "ListRecords" else step(asked)


def confused_without_dates(repository: Repository) -> None:
    """A token alone leads to the newest records; with from and until beside it, it works."""

    @changed(repository, "place")
    def place(step, asked):
        params = asked.params
        if "resumptionToken" not in params:
            return step(asked)
        found = repository.read_token(params["resumptionToken"], asked)
        if "from" in params and "until" in params:
            return found
        newest = max(0, len(repository.items) - repository.page_size)
        return replace(found, from_="", until="", begin=newest)


def nothing_in_long_windows(days: int):
    """A fault: noRecordsMatch for every list of more than so many days."""

    def plant(repository: Repository) -> None:
        @changed(repository, "check_window")
        def check_window(step, place):
            step(place)
            begin = _moment(place.from_) or min(one.datestamp for one in repository.items)
            end = _moment(place.until) or repository.now
            if end - begin >= timedelta(days=days):
                raise Condition("noRecordsMatch")

    return plant


def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def requests_by_verb(repository: Repository) -> Counter[str]:
    """How many requests came, by verb."""
    return Counter(asked.verb for asked in repository.asked)

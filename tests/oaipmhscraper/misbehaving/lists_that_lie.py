"""Lists of a thousand records that silently end early or miss records."""

import random
from collections.abc import Callable
from datetime import timedelta

from misbehaving.faults import no_list_size
from misbehaving.repository import Condition, Repository, changed, many_items

Mode = Callable[[Repository, random.Random], None]


def repository_that_lies(mode: str, seed: int, *, apart: timedelta, size: int = 1000) -> Repository:
    """So many records in pages of a hundred, with one of `MODES`; the same seed, the same lies."""
    repository = Repository()
    repository.items, repository.page_size = many_items(size, apart=apart), 100
    MODES[mode](repository, random.Random(seed))
    return repository


def _tokens_lost(repository: Repository, is_lost) -> None:
    """Give no token after a page where `is_lost`, a function of the page, says so."""

    @changed(repository, "next_token")
    def next_token(step, page):
        text = step(page)
        return "" if text and is_lost(page) else text


def lost_random(repository: Repository, chance: random.Random) -> None:
    """Each page loses its token with a probability of 0.1."""
    no_list_size(repository)
    _tokens_lost(repository, lambda page: chance.random() < 0.1)


def lost_random2(repository: Repository, chance: random.Random) -> None:
    """Each page loses its token with a probability of 0.3."""
    no_list_size(repository)
    _tokens_lost(repository, lambda page: chance.random() < 0.3)


def lost_300_500(repository: Repository, chance: random.Random) -> None:
    """ListRecords always ends after 300 records, ListIdentifiers after 500."""
    del chance
    no_list_size(repository)
    last = {"ListRecords": 300, "ListIdentifiers": 500}
    _tokens_lost(repository, lambda page: page.end >= last[page.place.verb])


def win_miss(repository: Repository, chance: random.Random) -> None:
    """A list with from or until misses three records in a hundred, others each time."""
    no_list_size(repository)

    @changed(repository, "chosen")
    def chosen(step, place):
        found = step(place)
        if not (place.from_ or place.until):
            return found
        return [one for one in found if chance.random() >= 0.03]


def win_miss_lost(repository: Repository, chance: random.Random) -> None:
    """The same, and ListRecords always ends after 300 records."""
    win_miss(repository, chance)
    _tokens_lost(repository, lambda page: page.end >= 300 and page.place.verb == "ListRecords")


def win_gaps(repository: Repository, chance: random.Random) -> None:
    """Lists with from or until never have five certain records of a thousand."""
    no_list_size(repository)
    missed = set(chance.sample(range(1, 1001), 5))

    @changed(repository, "chosen")
    def chosen(step, place):
        found = step(place)
        if not (place.from_ or place.until):
            return found
        return [one for one in found if one.number not in missed]


def gaps_both(repository: Repository, chance: random.Random) -> None:
    """The same, and the list as a whole never has three others."""
    win_gaps(repository, chance)
    missed = set(chance.sample(range(1, 1001), 3))

    @changed(repository, "chosen")
    def chosen(step, place):
        found = step(place)
        if place.from_ or place.until:
            return found
        return [one for one in found if one.number not in missed]


def lost_bytes(repository: Repository, chance: random.Random) -> None:
    """ListRecords ends after so many bytes, with 250 records."""
    del chance
    no_list_size(repository)
    repository.page_size = 50
    _tokens_lost(repository, lambda page: page.place.verb == "ListRecords" and page.end >= 250)


def lost_bytes2(repository: Repository, chance: random.Random) -> None:
    """Lists end after so many bytes: ListRecords with 250 records, ListIdentifiers with 1,700."""
    del chance
    no_list_size(repository)
    repository.page_size = 50
    last = {"ListRecords": 250, "ListIdentifiers": 1700}
    _tokens_lost(repository, lambda page: page.end >= last[page.place.verb])


def nowin_lost_li_more(repository: Repository, chance: random.Random) -> None:
    """from and until change nothing; ListRecords ends after 300, ListIdentifiers after 500."""
    lost_300_500(repository, chance)

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return True


def nowin_lost_random(repository: Repository, chance: random.Random) -> None:
    """from and until change nothing; tokens are lost at random, seldom of ListIdentifiers."""
    no_list_size(repository)
    often = {"ListRecords": 0.4, "ListIdentifiers": 0.1}
    _tokens_lost(repository, lambda page: chance.random() < often[page.place.verb])

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return True


def size_first_right_then_page(repository: Repository, chance: random.Random) -> None:
    """completeListSize is right on the first page, then that of the page, and tokens are lost."""
    _tokens_lost(repository, lambda page: chance.random() < 0.1)

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        size = len(page.items) if page.place.begin else page.total
        return {**step(page), "completeListSize": size}


def restarts_end_alike(repository: Repository, chance: random.Random) -> None:
    """Tokens are refused after 200 records, and lost after a page that ends with record 350."""
    del chance
    no_list_size(repository)
    repository.page_size = 50
    _tokens_lost(repository, lambda page: page.items[-1].number == 350)

    @changed(repository, "listing")
    def listing(step, place):
        if place.begin >= 200:
            raise Condition("badResumptionToken")
        return step(place)


MODES: dict[str, Mode] = {
    mode.__name__: mode
    for mode in (
        lost_random, lost_random2, lost_300_500, win_miss, win_miss_lost, win_gaps, gaps_both,
        lost_bytes, lost_bytes2, nowin_lost_li_more, nowin_lost_random,
        size_first_right_then_page, restarts_end_alike,
    )
}  # fmt: skip
RANDOM = frozenset(MODES) - {
    "lost_300_500", "lost_bytes", "lost_bytes2", "nowin_lost_li_more", "restarts_end_alike",
}  # fmt: skip

"""Faults of resumption tokens: 1 to 19 (OAI-PMH 2.0, section 3.5)."""

from collections import Counter
from dataclasses import replace
from urllib.parse import quote, unquote

from misbehaving.faults import POISONED, fault, instead, no_list_size, pages_with
from misbehaving.repository import Condition, Instead, Place, Repository, changed, html

EMPTY_FIRST = 110
"""Pages without records before the first one with some."""


@fault(1)
def empty_pages_before_the_records(repository: Repository) -> None:
    """1: a list begins with 110 empty pages, each with a new token, and says how long it is."""

    @changed(repository, "page")
    def page(step, place):
        found = step(place)
        return found if place.mark == EMPTY_FIRST else replace(found, items=())

    @changed(repository, "nothing")
    def nothing(step, page):
        return "" if page.total and page.place.mark < EMPTY_FIRST else step(page)

    @changed(repository, "next_token")
    def next_token(step, page):
        if page.place.mark < EMPTY_FIRST:
            return repository.write_token(replace(page.place, mark=page.place.mark + 1))
        return step(page)


def _token_at_the_end(repository: Repository) -> None:
    @changed(repository, "next_token")
    def next_token(step, page):
        return step(page) or (repository.write_token(page.following) if page.items else None)


@fault(1)
def token_to_an_empty_page(repository: Repository) -> None:
    """1: the last page carries a token, which leads to a page without records."""
    _token_at_the_end(repository)

    @changed(repository, "nothing")
    def nothing(step, page):
        return "" if page.place.begin else step(page)


@fault(2)
def token_to_no_records_match(repository: Repository) -> None:
    """2: the last page carries a token, which is answered by noRecordsMatch."""
    _token_at_the_end(repository)

    @changed(repository, "nothing")
    def nothing(step, page):
        raise Condition("noRecordsMatch")


@fault(3)
def token_to_bad_resumption_token(repository: Repository) -> None:
    """3: the last page carries a token, which is answered by badResumptionToken."""
    _token_at_the_end(repository)


@fault(3)
def token_of_the_third_page_refused(repository: Repository) -> None:
    """3: badResumptionToken in the middle of every list of more than 20."""

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        place = step(text, asked)
        if place.begin == 20:
            raise Condition("badResumptionToken")
        return place


@fault(4)
def last_token_comes_again(repository: Repository) -> None:
    """4: the last page hands out the token that led to it (archive.org)."""

    @changed(repository, "next_token")
    def next_token(step, page):
        text = step(page)
        return repository.write_token(page.place) if text == "" else text


@fault(4)
def third_page_leads_to_itself(repository: Repository) -> None:
    """4: in a list of more than 30, the third page's token is that of the third page."""

    @changed(repository, "next_token")
    def next_token(step, page):
        stuck = page.place.begin == 20 and page.end < page.total
        return repository.write_token(page.place) if stuck else step(page)


@fault(5)
def pages_in_a_circle(repository: Repository) -> None:
    """5: after the last page come the second and all others again, each with a new token."""

    @changed(repository, "next_token")
    def next_token(step, page):
        if page.place.begin and page.end >= page.total:
            again = replace(page.place, begin=10, mark=repository.next_serial())
            return repository.write_token(again)
        return step(page)


def _ends_after_two_pages(repository: Repository) -> None:
    @changed(repository, "next_token")
    def next_token(step, page):
        ends = page.place.begin >= 10 and page.place.verb == "ListRecords"
        return "" if ends else step(page)


@fault(6)
def list_ends_after_two_pages(repository: Repository) -> None:
    """6: the token is empty after the second page; completeListSize tells of more (OJS 3.3.0)."""
    _ends_after_two_pages(repository)


@fault(6)
def list_ends_early_and_promises_nothing(repository: Repository) -> None:
    """6: the token is empty after the second page, and no list says how long it is."""
    _ends_after_two_pages(repository)
    no_list_size(repository)


@fault(6)
def lists_lose_their_token_once(repository: Repository) -> None:
    """6: every list has no token after 20 records, the first time it comes so far."""
    _lists_end(repository, 20, lambda place, times: times == 1)


@fault(6)
def lists_break_off_the_first_time(repository: Repository) -> None:
    """6: every list ends after 20 records, until it is asked for again from its beginning."""
    _lists_end(repository, 20, lambda place, times: place.mark == 1)

    opened: Counter[Place] = Counter()

    @changed(repository, "place")
    def place(step, asked):
        found = step(asked)
        if "resumptionToken" in asked.params:
            return found
        opened[found] += 1
        return replace(found, mark=opened[found])


@fault(6)
def lists_of_both_verbs_end_early_and_promise_nothing(repository: Repository) -> None:
    """6: every list ends after 20 records, and none says how long it is."""
    _lists_end(repository, 20, lambda place, times: True)
    no_list_size(repository)


def _lists_end(repository: Repository, after: int, ends) -> None:
    """Give no token after so many records of a list, where `ends` says so; its size is told.

    `ends` is told how often that list came so far.
    """
    times: Counter[Place] = Counter()

    @changed(repository, "next_token")
    def next_token(step, page):
        text = step(page)
        if page.end != after or not text:
            return text
        times[page.place] += 1
        return "" if ends(page.place, times[page.place]) else text


@fault(6)
def lists_end_after_a_page(repository: Repository) -> None:
    """6: every list ends after its first page, and says how long it is."""
    _lists_end(repository, 10, lambda place, times: True)


@fault(7)
def tokens_expire(repository: Repository) -> None:
    """7: a list goes on for three pages, then its token has expired."""

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        place = step(text, asked)
        if place.begin >= 30:
            raise Condition("badResumptionToken", "expired")
        return place


@fault(8)
def tokens_work_once(repository: Repository) -> None:
    """8: a token works once, and the answer to one gets lost on its way."""
    used: set[str] = set()
    lost: list[Place] = []

    @changed(repository, "write_token")
    def write_token(step, place):
        return step(replace(place, mark=repository.next_serial()))

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        if text in used:
            raise Condition("badResumptionToken")
        used.add(text)
        place = step(text, asked)
        if place.begin == 10 and not lost:
            lost.append(place)
            raise Instead(replace(html(), reset=True))
        return place


@fault(8)
def tokens_name_a_session(repository: Repository) -> None:
    """8: all tokens of a list are the same text, the name of a session (kor#110)."""
    following: dict[str, Place] = {}
    no_list_size(repository)

    @changed(repository, "place")
    def place(step, asked):
        found = step(asked)
        return found if found.mark else replace(found, mark=repository.next_serial())

    @changed(repository, "write_token")
    def write_token(step, place):
        following[f"session{place.mark}"] = place
        return f"session{place.mark}"

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        if text not in following or following[text].verb != asked.verb:
            raise Condition("badResumptionToken")
        return following[text]


@fault(8)
def one_list_at_a_time(repository: Repository) -> None:
    """8: a new list makes the tokens of every list before it worthless."""

    @changed(repository, "place")
    def place(step, asked):
        found = step(asked)
        if "resumptionToken" not in asked.params:
            return replace(found, mark=repository.next_serial())
        if found.mark != repository.serial:
            raise Condition("badResumptionToken")
        return found


@fault(9)
def awkward_characters_in_tokens(repository: Repository) -> None:
    """9: tokens hold blanks, plus signs and everything else that a URL must not."""
    _readable_tokens(repository, "{begin}+ /|&=%41#;?'{rest}'é")


@fault(10)
def tokens_wanted_verbatim(repository: Repository) -> None:
    """10: tokens have characters that one would encode, and are refused where one does."""
    _readable_tokens(repository, "{begin}/{rest},:=", sent=lambda text, asked: _raw(asked))


@fault(11)
def encoded_tokens_wanted_verbatim(repository: Repository) -> None:
    """11: tokens are handed out percent-encoded, and are wanted as they are (Janeway)."""
    _readable_tokens(repository, "{begin}|{rest}|=", written=lambda text: quote(text, safe=""))


@fault(11)
def tokens_decoded_twice(repository: Repository) -> None:
    """11: tokens with percent signs are decoded once more than they were encoded."""
    _readable_tokens(
        repository,
        "{begin}%2B{rest}%7C",
        sent=lambda text, asked: unquote(text),
    )


def _raw(asked) -> str:
    return asked.raw["resumptionToken"]


def _readable_tokens(
    repository, form, *, written=lambda text: text, sent=lambda text, asked: text
) -> None:
    """Tokens of another form; `sent` says what the server takes for the token it was sent."""
    given: dict[str, Place] = {}

    @changed(repository, "write_token")
    def write_token(step, place):
        rest = f"{place.verb}.{place.from_}.{place.until}.{place.set_spec}.{place.mark}"
        text = form.format(begin=place.begin, rest=rest)
        given[text] = place
        return written(text)

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        place = given.get(sent(text, asked))
        if place is None or place.verb != asked.verb:
            raise Condition("badResumptionToken")
        return place


@fault(12)
def white_space_around_tokens(repository: Repository) -> None:
    """12: lines and blanks stand around tokens, and instead of the last one."""

    @changed(repository, "next_token")
    def next_token(step, page):
        text = step(page)
        return text if text is None else f"\n      {text}\n    "


@fault(13)
def prefix_wanted_with_the_token(repository: Repository) -> None:
    """13: a token without metadataPrefix beside it is a badArgument (pycsw, Zenodo)."""

    @changed(repository, "check")
    def check(step, asked, known):
        if "resumptionToken" in asked.params and "metadataPrefix" not in asked.params:
            raise Condition("badArgument", "missing metadataPrefix")
        step(asked, {*known, "metadataPrefix"})


@fault(14)
def expiry_misspelt(repository: Repository) -> None:
    """14: `expires` (arXiv) and `expiration_date` (oai_repo) instead of expirationDate."""
    _token_attributes(
        repository, expires="2012-06-02T00:00:00Z", expiration_date="2012-06-02T00:00:00Z"
    )


@fault(15)
def cursor_counts_pages(repository: Repository) -> None:
    """15: the cursor counts pages, and is -1 on the last one."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        last = page.end >= page.total
        return {**step(page), "cursor": -1 if last else page.place.begin // 10}


def _token_attributes(repository: Repository, **attributes) -> None:
    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {**step(page), **attributes}


@fault(16, arguments={"set_spec": "physics"}, listed=frozenset(range(1, 56, 2)))
def size_of_everything(repository: Repository) -> None:
    """16: completeListSize is that of the repository, also where a set was asked for."""
    _token_attributes(repository, completeListSize=len(repository.items))


@fault(16)
def size_of_the_page(repository: Repository) -> None:
    """16: completeListSize is that of the page."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {**step(page), "completeListSize": len(page.items)}


@fault(16)
def size_changes_while_paging(repository: Repository) -> None:
    """16: completeListSize becomes less from page to page, down to the right one."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {**step(page), "completeListSize": page.total + (page.total - page.end) // 10}


@fault(75)
def size_falls_where_lists_end(repository: Repository) -> None:
    """75: every list ends after 20 records, and its last page says that these are all."""
    _lists_end(repository, 20, lambda place, times: True)
    _size_on_page(repository, lambda page: 20 if page.end == 20 else page.total)


@fault(75)
def size_grows_until_lists_end(repository: Repository) -> None:
    """75: every list ends after 30 records; completeListSize is what came and a page more."""
    _lists_end(repository, 30, lambda place, times: True)
    _size_on_page(repository, lambda page: min(30, page.end + 10))


def _size_on_page(repository: Repository, size) -> None:
    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {**step(page), "completeListSize": size(page)}


@fault(76, doubted=True, listed=frozenset(range(1, 21)))
def lists_end_early_and_identifiers_are_refused(repository: Repository) -> None:
    """76: every list ends after 20 records, none gives a size, ListIdentifiers is badVerb."""
    _lists_end(repository, 20, lambda place, times: True)
    no_list_size(repository)

    @changed(repository, "place")
    def place(step, asked):
        if asked.verb == "ListIdentifiers":
            raise Condition("badVerb")
        return step(asked)


@fault(77, doubted=True)
def lists_of_identifiers_end_after_a_page(repository: Repository) -> None:
    """77: ListIdentifiers brings ten identifiers for any list; no list gives a size."""
    _lists_end(repository, 10, lambda place, times: place.verb == "ListIdentifiers")
    no_list_size(repository)


@fault(78)
def identifiers_end_later_than_records(repository: Repository) -> None:
    """78: ListRecords ends after 20 records, ListIdentifiers after 21; no list gives a size."""
    _identifiers_end_after_21(repository)


@fault(78, doubted=True, listed=frozenset(range(1, 22)))
def identifiers_end_later_and_windows_do_nothing(repository: Repository) -> None:
    """78: the same, and windows change nothing."""
    _identifiers_end_after_21(repository)

    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return True


def _identifiers_end_after_21(repository: Repository) -> None:
    no_list_size(repository)

    @changed(repository, "page")
    def page(step, place):
        repository.page_size = 10 if place.verb == "ListRecords" else 7
        return step(place)

    @changed(repository, "next_token")
    def next_token(step, page):
        last = 20 if page.place.verb == "ListRecords" else 21
        return "" if page.end == last else step(page)


@fault(17)
def token_zero_begins_again(repository: Repository) -> None:
    """17: the last page has the token 0, which leads to the first page (pycsw)."""
    first: dict[str, Place] = {}

    @changed(repository, "next_token")
    def next_token(step, page):
        first[page.place.verb] = replace(page.place, begin=0)
        return step(page) or "0"

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        return first[asked.verb] if text == "0" else step(text, asked)


@fault(18, lost=[POISONED])
def a_poisoned_record(repository: Repository) -> None:
    """18: HTTP 500 for every page with one certain record, and for that record."""
    pages_with(repository, POISONED, "ListRecords GetRecord", instead(html(500)))


@fault(18)
def a_record_that_poisons_its_page(repository: Repository) -> None:
    """18: HTTP 500 for every page with one certain record; alone it can be had."""
    pages_with(repository, POISONED, "ListRecords", instead(html(500)))


@fault(19)
def deep_paging_fails(repository: Repository) -> None:
    """19: after the first 20 records of a list, HTTP 504 (Zenodo after 10,000)."""

    @changed(repository, "page")
    def page(step, place):
        if place.begin >= 20:
            raise Instead(html(504))
        return step(place)

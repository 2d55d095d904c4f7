"""Windows walked page by page over repositories that misbehave, without a socket."""

from collections import Counter
from dataclasses import replace

import pytest
from misbehaving import FunctionTransport, identifier, repository_with
from misbehaving.faults import no_list_size
from misbehaving.repository import Condition, Instead, changed, html

from oaipmhclient.client import Client
from oaipmhclient.errors import TokenLoopError
from oaipmhclient.walk.endpoint_memory import Companions, EndpointMemory, Spelling
from oaipmhclient.walk.list_walk import walk_window
from oaipmhclient.walk.listed_pages import (
    HEADERS,
    RECORDS,
    ListCutShort,
    OneIdentifier,
    OutsideWindow,
)
from oaipmhclient.walk.values import (
    ByIdentifier,
    GiveUp,
    ListJob,
    RestartFrom,
    SingleList,
    SplitWindow,
    WindowBroken,
    WindowPosition,
)
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import BadResumptionToken, CannotDisseminateFormat, Granularity
from politeweb.errors import HTTPStatusError, RequestRefused

OPEN = Window()
ALL = ListJob("oai_dc")
EVERYTHING = [identifier(number) for number in range(1, 56)]


class Walked:
    """A window, walked as far as it goes."""

    def __init__(self, repository, window=OPEN, job=ALL, position=None, quirks=None, again=False):
        self.repository = repository
        self.quirks = quirks or EndpointMemory()
        self.pages = []
        self.broken = None
        client = Client(FunctionTransport(repository))
        try:
            for page in walk_window(
                client, RECORDS, job, window, position, quirks=self.quirks, again=again
            ):
                self.pages.append(page)
        except WindowBroken as broken:
            self.broken = broken

    @property
    def identifiers(self):
        return [record.header.identifier for page in self.pages for record in page.page.items]

    @property
    def steps(self):
        return [step for page in self.pages for step in page.steps]

    @property
    def position(self):
        return self.pages[-1].position

    @property
    def queries(self):
        return [asked.query for asked in self.repository.asked]


@pytest.fixture
def repository():
    return repository_with()


def test_a_proper_list_takes_one_request_a_page_and_no_step(repository):
    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING
    assert walked.steps == []
    assert walked.broken is None
    assert [page.position.listed for page in walked.pages] == [10, 20, 30, 40, 50, 55]
    assert [page.position.ended for page in walked.pages] == [False] * 5 + [True]
    assert len(repository.asked) == 6
    assert walked.position.promised == 55
    assert walked.quirks == EndpointMemory(token_proved=True)


def test_a_page_is_fetched_only_when_the_one_before_is_taken(repository):
    walk = walk_window(
        Client(FunctionTransport(repository)), RECORDS, ALL, OPEN, quirks=EndpointMemory()
    )
    next(walk)
    assert len(repository.asked) == 1


def test_a_walk_goes_on_from_any_position(repository):
    pages = Walked(repository).pages
    for done, page in enumerate(pages, 1):
        position = WindowPosition.from_json(page.position.to_json())
        rest = Walked(repository_with(), position=position)
        assert rest.identifiers == EVERYTHING[10 * done :]
        assert rest.broken is None


def test_bounds_and_set_are_sent(repository):
    window = Window("2010-03-01T00:00:00Z", "2010-06-30T23:59:59Z")
    walked = Walked(repository, window, ListJob("oai_dc", "physics"))
    dates = [record.header.datestamp for page in walked.pages for record in page.page.items]
    assert dates
    assert all(window.from_ <= date <= window.until for date in dates)
    (query,) = walked.queries
    assert query.startswith("verb=ListRecords&metadataPrefix=oai_dc&from=2010-03-01T00%3A00%3A00Z")
    assert query.endswith("&until=2010-06-30T23%3A59%3A59Z&set=physics")
    assert walked.quirks.windows_answered == 1


def test_arguments_that_make_no_request_are_refused(repository):
    with pytest.raises(RequestRefused):
        Walked(repository, Window("2011-01-01", "2010-01-01"))
    assert not repository.asked


# --------------------------------------------------------------------------- tokens


@pytest.mark.parametrize(
    ("fault", "step", "spelling", "companions"),
    [
        ("tokens_wanted_verbatim", "token sent verbatim", Spelling.VERBATIM, Companions.NONE),
        (
            "encoded_tokens_wanted_verbatim",
            "token sent verbatim",
            Spelling.VERBATIM,
            Companions.NONE,
        ),
        ("tokens_decoded_twice", "token encoded twice", Spelling.DOUBLE, Companions.NONE),
        (
            "prefix_wanted_with_the_token",
            "prefix sent with the token",
            Spelling.ENCODED,
            Companions.PREFIX,
        ),
    ],
)
def test_a_form_of_token_that_helps_is_found_once_and_kept(fault, step, spelling, companions):
    walked = Walked(repository_with(fault))
    assert walked.identifiers == EVERYTHING
    assert walked.steps == [step]
    assert (walked.quirks.spelling, walked.quirks.companions) == (spelling, companions)
    again = Walked(repository_with(fault), quirks=walked.quirks)
    assert again.steps == []
    assert len(again.repository.asked) == 6


def test_all_arguments_go_with_a_token_that_wants_them(repository):
    @changed(repository, "read_token")
    def read_token(step, text, asked):
        if "until" not in asked.params:
            raise Condition("badResumptionToken")
        return step(text, asked)

    @changed(repository, "check")
    def check(step, asked, allowed):
        return None

    walked = Walked(repository, Window(None, "2020-01-01T00:00:00Z"))
    assert walked.identifiers == EVERYTHING
    assert walked.steps == ["all arguments sent with the token"]


def test_a_token_misread_as_none_at_all_is_noticed_by_its_page(repository):
    """coneda/kor#55: the first page comes again, with status 200 and no error."""

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        place = step(text, asked)
        return place if "metadataPrefix" in asked.params else replace(place, begin=0)

    @changed(repository, "check")
    def check(step, asked, allowed):
        return None

    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING
    assert walked.steps == ["prefix sent with the token"]
    assert len(repository.asked) == 7


@pytest.mark.parametrize(
    "fault",
    [
        "token_to_no_records_match",
        "token_to_bad_resumption_token",
        "last_token_comes_again",
        "pages_in_a_circle",
        "token_zero_begins_again",
    ],
)
def test_a_token_behind_the_last_page_does_not_trouble_a_list_that_is_all_there(fault):
    walked = Walked(repository_with(fault))
    assert Counter(walked.identifiers) == Counter(EVERYTHING)
    assert walked.steps == ["end of a list that has all it promised"]
    assert walked.position.ended
    assert len(walked.repository.asked) == 7


def test_an_empty_last_page_is_the_end():
    walked = Walked(repository_with("token_to_an_empty_page"))
    assert walked.identifiers == EVERYTHING
    assert walked.steps == []


def newest_first(repository):
    @changed(repository, "chosen")
    def chosen(step, place):
        return step(place)[::-1]


def test_a_circle_without_a_promise_ends_in_doubt(repository):
    @changed(repository, "read_token")
    def read_token(step, text, asked):
        place = step(text, asked)
        return replace(place, begin=place.begin % 30)

    no_list_size(repository)
    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[:30]
    assert walked.steps == ["end of a list that promised nothing"]
    assert len(repository.asked) == 4


def test_a_token_that_stays_the_same_is_followed_as_long_as_it_brings_news(repository):
    """kor#110: the state of the list is in the server's session."""
    begin = [0]

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        begin[0] += 10
        return replace(step(repository.write_token(first[0]), asked), begin=begin[0])

    first = []

    @changed(repository, "next_token")
    def next_token(step, page):
        first.append(page.place)
        return "the-same" if page.end < page.total else None

    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING
    assert walked.broken is None


@pytest.mark.parametrize("empty", [True, False])
def test_a_token_that_leads_to_itself_without_news_ends_the_walk_at_once(repository, empty):
    @changed(repository, "next_token")
    def next_token(step, page):
        return step(page) if not page.place.begin else repository.write_token(page.place)

    if empty:

        @changed(repository, "entries")
        def entries(step, page):
            return step(page) if not page.place.begin else ""

    no_list_size(repository)
    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[: 10 if empty else 20]
    assert walked.steps == ["end of a list that promised nothing"]
    assert len(repository.asked) <= 5


def test_a_circle_short_of_its_promise_is_broken_and_restarted():
    walked = Walked(repository_with("third_page_leads_to_itself"))
    assert walked.identifiers == EVERYTHING[:30]
    assert isinstance(walked.broken.cause, TokenLoopError)
    assert walked.broken.remedy == RestartFrom(walked.position.safe_from)
    assert walked.broken.steps == ("window restarted from the last safe date",)


def test_an_expired_token_restarts_at_the_last_safe_date():
    walked = Walked(repository_with("token_of_the_third_page_refused"))
    assert walked.identifiers == EVERYTHING[:20]
    assert isinstance(walked.broken.cause, BadResumptionToken)
    assert walked.broken.remedy == RestartFrom("2010-07-29T08:00:00Z")


def test_a_token_of_an_earlier_run_that_has_expired_restarts_the_window(repository):
    @changed(repository, "read_token")
    def read_token(step, text, asked):
        raise Condition("badResumptionToken")

    late = WindowPosition("old", 2, 20, 55)
    walked = Walked(repository, position=late, quirks=EndpointMemory(token_proved=True))
    assert walked.pages == []
    assert walked.broken.remedy == RestartFrom(None)


def test_an_unsorted_list_whose_token_expired_is_split(repository):
    newest_first(repository)

    @changed(repository, "read_token")
    def read_token(step, text, asked):
        raise Condition("badResumptionToken")

    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[:44:-1]
    assert walked.broken.remedy == SplitWindow()


# --------------------------------------------------------------------------- empty lists and ends


def once(repository, code):
    """Answer the n-th list request with an error, the same request properly afterwards."""

    def refuse(asked):
        if asked.lists and not asked.times:
            raise Condition(code)

    @changed(repository, "content")
    def content(step, asked):
        refuse(asked)
        return step(asked)


def test_spurious_no_records_match_is_asked_again_wherever_it_comes(repository):
    once(repository, "noRecordsMatch")
    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING
    assert walked.steps == ["asked again"] * 6
    assert walked.quirks.empty_denied == 1


def test_an_empty_window_costs_two_requests_and_later_one(repository):
    quirks = EndpointMemory()
    empty = Window("1999-01-01", "1999-12-31")
    asked = []
    for _ in range(5):
        before = len(repository.asked)
        walked = Walked(repository, empty, quirks=quirks)
        assert walked.identifiers == []
        assert walked.steps == []
        assert walked.position.ended
        asked.append(len(repository.asked) - before)
    assert asked == [2, 2, 2, 1, 1]


def test_a_set_that_is_empty_and_not_listed_is_told():
    listed = Walked(repository_with(), job=ListJob("oai_dc", "empty"))
    assert listed.steps == []
    gone = Walked(repository_with(), job=ListJob("oai_dc", "alchemy"))
    assert gone.steps == ["set is not listed"]
    assert gone.identifiers == []
    assert gone.position.ended


def test_an_early_end_hands_over_its_pages_and_restarts():
    walked = Walked(repository_with("list_ends_after_two_pages"))
    assert walked.identifiers == EVERYTHING[:20]
    assert not walked.position.ended
    assert isinstance(walked.broken.cause, ListCutShort)
    assert walked.broken.remedy == RestartFrom("2010-07-29T08:00:00Z")
    # two pages, the second one again, and whether a part promises less
    assert len(walked.repository.asked) == 4


def test_a_page_that_lost_its_token_is_asked_for_again_before_anything_else():
    walked = Walked(repository_with("lists_lose_their_token_once"))
    assert walked.identifiers == EVERYTHING
    assert walked.steps == ["last page asked for again"]
    assert len(walked.repository.asked) == 7


def test_a_list_that_ends_early_is_asked_for_again_as_it_was_before_it_is_split(repository):
    newest_first(repository)

    @changed(repository, "next_token")
    def next_token(step, page):
        return None if page.place.begin else step(page)

    assert Walked(repository).broken.remedy == RestartFrom(None)
    assert Walked(repository, again=True).broken.remedy == SplitWindow()


def test_an_early_end_is_decided_anew_after_a_kill_without_a_request():
    position = Walked(repository_with("list_ends_after_two_pages")).position
    walked = Walked(repository_with(), position=position)
    assert walked.broken.remedy == RestartFrom("2010-07-29T08:00:00Z")
    assert walked.repository.asked == []


def counting_everything(repository):
    """combine#240: completeListSize is that of the whole repository, whatever is listed."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {"completeListSize": 55}


@pytest.mark.parametrize("order", [lambda repository: None, newest_first])
def test_a_number_that_does_not_shrink_with_the_list_is_no_count_of_it(repository, order):
    counting_everything(repository)
    order(repository)
    walked = Walked(repository, job=ListJob("oai_dc", "physics"))
    assert len(walked.identifiers) == 28
    assert walked.steps == ["end of a list whose completeListSize is not a count"]
    assert not walked.quirks.promises_kept
    assert len(repository.asked) == 5  # three pages, the last one again, the first of a part
    again = Walked(repository, job=ListJob("oai_dc", "history"), quirks=walked.quirks)
    assert len(again.identifiers) == 27
    assert again.steps == []


@pytest.mark.parametrize("fault", ["in_no_order", None])
def test_a_number_a_little_too_large_costs_no_second_list(fault):
    """DOAJ#235: 44264 promised, 44253 there."""
    repository = repository_with(*filter(None, [fault]))

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return {"completeListSize": page.total + 4}

    walked = Walked(repository)
    assert sorted(walked.identifiers) == EVERYTHING
    assert walked.steps == [
        "end of a list short of what it promised, on a page shorter than the others"
    ]
    assert not walked.quirks.promises_kept
    assert len(repository.asked) == 8


def test_a_number_is_not_tested_by_a_part_that_the_repository_does_not_part(repository):
    @changed(repository, "in_window")
    def in_window(step, item, from_, until):
        return True

    @changed(repository, "next_token")
    def next_token(step, page):
        return step(page) if page.end < 20 else None

    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[:20]
    assert walked.quirks.promises_kept
    assert walked.broken.remedy == RestartFrom("2010-07-29T08:00:00Z")


def test_a_number_below_what_is_listed_is_not_taken_for_the_end():
    walked = Walked(repository_with("size_of_the_page"))
    assert walked.identifiers == EVERYTHING
    assert not walked.quirks.promises_kept


def test_records_that_come_beside_an_error_are_kept():
    walked = Walked(repository_with("errors_beside_records"))
    assert walked.identifiers == EVERYTHING
    assert walked.steps == ["error beside records"] * 6


# --------------------------------------------------------------------------- failing servers


def poisoned(repository, number, verbs=("ListRecords",)):
    @changed(repository, "entries")
    def entries(step, page):
        if page.place.verb in verbs and page.holds(number):
            raise Instead(html(500))
        return step(page)


def test_a_poisoned_record_is_narrowed_down_to_a_few(repository):
    poisoned(repository, 15)
    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[:10]
    assert isinstance(walked.broken.cause, HTTPStatusError)
    assert walked.broken.remedy == RestartFrom("2010-04-10T08:00:00Z")
    narrower = Walked(repository, Window("2010-04-10T08:00:00Z", None))
    assert narrower.broken.remedy == SplitWindow("2010-07-18T08:00:00Z")  # before the tenth record
    few = Walked(repository, Window("2010-04-10T08:00:00Z", "2010-07-18T07:59:59Z"))
    assert few.broken.remedy == ByIdentifier()
    assert few.broken.steps == ("records fetched by identifier",)
    granule = Window("2010-06-04T08:00:00Z", "2010-06-04T08:00:00Z")
    assert Walked(repository, granule).broken.remedy == ByIdentifier()


def test_a_poisoned_window_whose_identifiers_are_poisoned_too_is_halved(repository):
    poisoned(repository, 15, verbs=("ListRecords", "ListIdentifiers"))
    quirks = EndpointMemory()
    asked = []
    for _ in range(3):
        walked = Walked(repository, Window("2010-04-10T08:00:00Z", None), quirks=quirks)
        assert walked.broken.remedy == SplitWindow()
        asked.append(sum("ListIdentifiers" in query for query in walked.queries))
    assert asked == [5, 10, 10]  # twice in vain is enough; each is sent five times


def test_an_endpoint_that_does_not_even_identify_itself_is_gone(repository):
    @changed(repository, "reply")
    def reply(step, asked):
        return html(500)

    with pytest.raises(HTTPStatusError):
        Walked(repository)


def test_a_page_that_is_always_html_is_no_empty_page(repository):
    @changed(repository, "reply")
    def reply(step, asked):
        return html() if "resumptionToken" in asked.params else step(asked)

    walked = Walked(repository)
    assert walked.identifiers == EVERYTHING[:10]
    assert walked.broken.remedy == RestartFrom("2010-04-10T08:00:00Z")


def test_one_record_without_the_format_does_not_end_the_list():
    walked = Walked(repository_with("a_record_without_the_format"))
    assert isinstance(walked.broken.cause, CannotDisseminateFormat)
    assert isinstance(walked.broken.remedy, (RestartFrom, SplitWindow))


@pytest.mark.parametrize("window", [Window(), Window("2010-01-01", "2010-06-30")])
def test_a_format_that_the_repository_does_not_have_is_not_looked_for_in_windows(window):
    repository = repository_with()
    with pytest.raises(CannotDisseminateFormat):
        Walked(repository, job=ListJob("nonsense"), window=window)
    verbs = [asked.params["verb"] for asked in repository.asked]
    assert verbs == ["ListRecords", "ListRecords", "ListMetadataFormats"]


def test_the_sound_beginning_of_a_page_cut_short_is_handed_over():
    walked = Walked(repository_with("a_page_always_cut_short"))
    assert walked.identifiers == EVERYTHING[:22]
    assert walked.pages[-1].page.end_lost
    assert walked.broken.remedy == RestartFrom(walked.position.safe_from)
    assert walked.broken.steps == ("window restarted from the last safe date",)


# --------------------------------------------------------------------------- windows


def test_seconds_refused_are_sent_as_days_from_then_on():
    repository = repository_with("days_only")
    window = Window("2010-03-01T00:00:00Z", "2010-06-30T12:00:00Z")
    walked = Walked(repository, window)
    assert walked.steps == ["dates sent in the other granularity"]
    assert walked.quirks.granularity is Granularity.DAY
    assert walked.identifiers
    assert walked.queries[1].endswith("&from=2010-03-01&until=2010-06-30")
    assert Walked(repository, window, quirks=walked.quirks).steps == []


def test_half_windows_that_are_refused_are_sent_whole():
    walked = Walked(repository_with("half_windows_refused"), Window("2010-03-01T00:00:00Z", None))
    assert walked.steps[0] == "from and until sent together"
    assert walked.quirks.both_bounds
    assert set(walked.identifiers) <= set(EVERYTHING)
    assert walked.identifiers


def test_windows_that_are_refused_altogether_become_one_list():
    walked = Walked(repository_with("windows_refused"), Window("2010-03-01T00:00:00Z", None))
    assert walked.broken.remedy == SingleList()
    assert not walked.quirks.windows_work


def test_records_outside_a_window_make_one_list_of_all():
    quirks = EndpointMemory()
    repository = repository_with("windows_ignored")
    walked = Walked(repository, Window("2011-05-01T00:00:00Z", None), quirks=quirks)
    assert isinstance(walked.broken.cause, OutsideWindow)
    assert walked.broken.remedy == SingleList()
    assert not quirks.windows_work


def test_windows_of_hours_that_all_begin_alike_make_one_list_of_all():
    repository, quirks = repository_with("windows_ignored_and_lists_break_off"), EndpointMemory()
    early, late = (Window(f"2010-01-01T{hour}:00:00Z", None) for hour in ("09", "10"))
    assert len(Walked(repository, early, quirks=quirks).identifiers) == 20
    walked = Walked(repository, late, quirks=quirks)
    assert isinstance(walked.broken.cause, OutsideWindow)
    assert (walked.identifiers, walked.broken.remedy) == ([], SingleList())


def test_records_outside_the_dates_that_the_user_asked_for_are_kept():
    repository = repository_with("windows_ignored")
    window = Window("2011-05-01T00:00:00Z", None)
    walked = Walked(repository, window, ListJob("oai_dc", None, window.from_, None))
    assert walked.identifiers == EVERYTHING
    assert not walked.quirks.windows_work


def test_a_page_of_different_records_with_one_identifier_is_refused(repository):
    @changed(repository, "entries")
    def entries(step, page):
        text = step(page)
        for item in page.items:
            text = text.replace(item.identifier, identifier(1))
        return text

    walked = Walked(repository)
    assert walked.identifiers == []
    assert isinstance(walked.broken.cause, OneIdentifier)
    assert walked.broken.remedy == GiveUp()


def test_headers_are_walked_like_records():
    client = Client(FunctionTransport(repository_with("tokens_wanted_verbatim")))
    pages = list(walk_window(client, HEADERS, ALL, OPEN, quirks=EndpointMemory()))
    assert [one.identifier for page in pages for one in page.page.items] == EVERYTHING
    assert [page.steps for page in pages if page.steps] == [("token sent verbatim",)]

"""Progress during a harvest, and the receipt after it."""

import io
from datetime import UTC, datetime

import pytest

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhscraper.progress import Bars, Lines, NoProgress, display
from oaipmhscraper.receipt import Counts, ListReceipt, Outcome, Receipt, total
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo.progress import counting

STARTED = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
ENDED = datetime(2026, 1, 1, 12, 0, 2, tzinfo=UTC)


def counts(promised=None, written=0, **numbers):
    return Counts(promised, written, {Outcome(name): n for name, n in numbers.items()})


def receipt(*lists, **more):
    return Receipt("http://repo.example/oai", STARTED, ENDED, lists, **more)


def test_stored_are_the_live_records_and_listed_are_all():
    found = counts(new=3, updated=2, unchanged=5, deleted=1, duplicates=1, quarantined=1)
    assert (found.listed, found.stored) == (13, 10)


def test_counts_of_pages_add_up():
    found = counts(new=1).plus({Outcome.NEW: 2, Outcome.DELETED: 1}, written=3)
    assert (found[Outcome.NEW], found[Outcome.DELETED], found.written) == (3, 1, 3)


@pytest.mark.parametrize(
    ("promises", "sum_"), [((3, 4), 7), ((3, None), None), ((None, None), None), ((), None)]
)
def test_a_sum_promises_only_what_every_list_promised(promises, sum_):
    assert total(Counts(promise) for promise in promises).promised == sum_


def test_the_receipt_for_a_person_is_a_table_and_a_sentence():
    whole = receipt(
        ListReceipt("oai_dc", counts=counts(1200, 1200, new=1100, deleted=100), ended=True),
        ListReceipt("p", "a:b", counts=counts(None, 3, updated=3), ended=True),
    )
    assert whole.text().splitlines() == [
        "http://repo.example/oai: 1,203 records listed in 2.0 s, counted in each of 2 lists",
        "                  listed         new     updated   unchanged     deleted      stored",
        "  oai_dc           1,200       1,100           0           0         100       1,100",
        "  p, set a:b           3           0           3           0           0           3",
        "Whole: everything listed is in the Silo.",
    ]


def test_rare_outcomes_have_columns_only_where_they_occur():
    found = receipt(ListReceipt("oai_dc", counts=counts(new=1, left_out=2), ended=True)).text()
    assert "left out" in found
    assert "duplicates" not in found


def test_losses_are_named_one_by_one():
    lost = ListReceipt(
        "oai_dc",
        counts=counts(9, 5, new=4, quarantined=1),
        ended=True,
        quarantined=(SetAside("oai:x:1", "has no header", "record 1"),),
    )
    assert lost.losses() == [
        "oai_dc: the repository promised 9 records and listed 5; 4 are missing",
        "oai_dc: oai:x:1 (record 1), which has no header, was set aside",
    ]
    assert not receipt(lost).whole
    assert receipt(lost).text().splitlines()[-3] == "Not whole:"


def test_a_list_that_stopped_says_why_and_is_not_short():
    stopped = ListReceipt("oai_dc", counts=counts(9, 5, new=5), stopped="it rained")
    assert stopped.losses() == ["oai_dc: stopped before the end of the list: it rained"]


def test_an_interrupted_harvest_is_not_whole():
    found = receipt(ListReceipt("oai_dc", ended=True), interrupted=True)
    assert not found.whole
    assert found.text().endswith("Not whole: interrupted.")
    stopped = ListReceipt("oai_dc", stopped="interrupted")
    assert receipt(stopped, interrupted=True).text().lower().count("interrupted") == 1


# --- progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_what_is_shown_suits_the_stream():
    assert isinstance(display(Terminal()), Bars)
    assert isinstance(display(io.StringIO()), Lines)
    assert isinstance(display(io.StringIO(), terminal_only=True), NoProgress)
    assert isinstance(display(Terminal(), quiet=True), NoProgress)


def test_a_pipe_gets_a_line_every_few_seconds():
    seconds = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    stream = io.StringIO()
    with Lines(stream, clock=lambda: next(seconds)) as lines:
        for number in (1000, 2000, 3000, 4000):
            lines(ListReceipt("oai_dc", counts=counts(5000 if number < 4000 else None, new=number)))
    assert stream.getvalue() == (
        "oai_dc: 2,000 of 5,000 records, 200/s, 0:00:15 to go\noai_dc: 4,000 records, 273/s\n"
    )


def test_a_line_tells_of_parts_retries_and_losses():
    seconds = iter([0.0, 6.0])
    stream = io.StringIO()
    receipt = ListReceipt("p", counts=counts(9, new=5, quarantined=2), open_windows=3, retried=4)
    with Lines(stream, clock=lambda: next(seconds)) as lines:
        lines(receipt)
    assert stream.getvalue() == "p: 7 of 9 records, 3 parts at a time, 4 retries, 2 set aside\n"


def test_a_terminal_gets_a_bar_for_each_list():
    stream = Terminal()
    with Bars(stream) as bar:
        bar(ListReceipt("oai_dc", counts=counts(12_000, new=5000)))
        bar(ListReceipt("p", counts=counts(new=7)))
        bar(ListReceipt("p", counts=counts(new=7), ended=True))
    assert "5,000 of 12,000 records" in stream.getvalue()
    assert "7 records" in stream.getvalue()


@pytest.mark.parametrize(("width", "bar_fits"), [(140, True), (80, False), (40, False)])
def test_a_narrow_terminal_loses_the_bar_before_a_number(monkeypatch, width, bar_fits):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    with Bars(stream) as bar:
        more = {"open_windows": 6, "retried": 12}
        bar(ListReceipt("oai_dc", counts=counts(12_345_678, new=1_234_567), **more))
    shown = stream.getvalue()
    assert "1,234,567 of 12,345,678 records" in shown
    assert ("\u2501" * 10 in shown) is bar_fits
    assert "\u2026" not in shown
    assert ("6 parts at a time" in shown) is bar_fits


@pytest.mark.parametrize("width", [80, 30])
def test_a_count_is_whole_in_a_narrow_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    with counting("checking", 1_000_000, stream=stream) as show:
        show(999_999)
    assert " 999999/1000000" in stream.getvalue()


@pytest.mark.parametrize(("quiet", "shown"), [(False, True), (True, False)])
def test_at_a_prompt_the_scraper_shows_its_progress_unless_quiet(
    repository, silo_dir, monkeypatch, quiet, shown
):
    repository.add("oai:x:1")
    terminal = Terminal()
    with OAIPMHScraper(
        silo_dir, "http://repo.example/oai", transport=repository, quiet=quiet
    ) as scraper:
        monkeypatch.setattr("sys.stderr", terminal)
        scraper.getRecords("oai_dc")
    assert ("oai_dc" in terminal.getvalue()) is shown


def test_a_count_that_does_not_grow_is_told_once(monkeypatch):
    monkeypatch.setattr("recordsilo.progress.SECONDS_BETWEEN_LINES", 0.0)
    stream = io.StringIO()
    with counting("outcomes", stream=stream) as show:
        for done in (1, 1, 2, 2):
            show(done)
    assert stream.getvalue() == "outcomes: 1\noutcomes: 2\n"

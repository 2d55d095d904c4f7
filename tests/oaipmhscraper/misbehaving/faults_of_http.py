"""Faults of HTTP: 20 to 33 (OAI-PMH 2.0, section 3.1)."""

import gzip
from dataclasses import replace

from misbehaving.faults import POISONED, fault, instead, now_and_then, pages_with
from misbehaving.repository import Reply, Repository, changed, html

PASSED = "Thu, 01 Jan 2009 00:00:00 GMT"


@fault(20)
def busy_now_and_then(repository: Repository) -> None:
    """20: each request is answered by 503 at first: with Retry-After 0, a date, or nothing."""
    forms = [[("Retry-After", "0")], [("Retry-After", PASSED)], []]
    now_and_then(repository, lambda asked, _: html(503, *forms[asked.number % 3]))


def closed_for_a_day(repository: Repository) -> None:
    """21: after three list requests, 429 with Retry-After 86400.

    No fault to be got over: a harvest has to stop, and to be left to another day.
    """

    @changed(repository, "reply")
    def reply(step, asked):
        later = sum(one.lists for one in repository.asked) > 3
        return html(429, ("Retry-After", "86400")) if later and asked.lists else step(asked)


@fault(21)
def one_request_at_a_time(repository: Repository) -> None:
    """21: 429 where another request is still being answered.

    The refusal comes when the other request is answered: however slow the machine is,
    a client that leaves one request at a time is not refused again.
    """

    @changed(repository, "reply")
    def reply(step, asked):
        if asked.beside:
            return replace(html(429), after_others=True)
        proper = step(asked)
        return replace(proper, pause=0.02) if asked.lists else proper


@fault(22)
def errors_inside_http_errors(repository: Repository) -> None:
    """22: error conditions come with the statuses 404, 422 and 500, and a last page with 500."""
    status = {"noRecordsMatch": 404, "badArgument": 422, "badResumptionToken": 500}

    @changed(repository, "refusal")
    def refusal(step, condition):
        return replace(step(condition), status=status.get(condition.code, 400))

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        is_last = b"></resumptionToken>" in proper.body
        return replace(proper, status=500) if is_last else proper


@fault(23)
def html_now_and_then(repository: Repository) -> None:
    """23: each list request is answered by a page of maintenance at first, with 200."""
    now_and_then(repository, lambda *_: html())


@fault(23)
def html_for_a_page(repository: Repository) -> None:
    """23: one certain page is HTML with 200 however often it is asked for (PHP out of memory)."""
    pages_with(repository, POISONED, "ListRecords", instead(html()))


@fault(24)
def libraries_blocked(repository: Repository) -> None:
    """24: 403 for everything that calls itself after a library."""

    @changed(repository, "reply")
    def reply(step, asked):
        agent = asked.headers.get("user-agent", "").lower()
        named = any(name in agent for name in ("python", "requests", "httpx", "sickle", "java"))
        return html(403) if named or not agent else step(asked)


@fault(25)
def empty_now_and_then(repository: Repository) -> None:
    """25: each list request is answered by 200 and no body at first."""
    now_and_then(repository, lambda _, proper: replace(proper, body=b""))


@fault(26)
def cut_short_now_and_then(repository: Repository) -> None:
    """26: at first less of an answer comes than Content-Length says."""
    now_and_then(repository, lambda _, proper: replace(proper, sent=len(proper.body) // 2))


@fault(26)
def cut_short_without_a_length(repository: Repository) -> None:
    """26: at first half an answer comes, and nothing says how long it should be."""
    now_and_then(
        repository,
        lambda _, proper: replace(proper, sent=len(proper.body) // 2, told_length=-1),
    )


@fault(26)
def chunks_cut_short(repository: Repository) -> None:
    """26: at first an answer in chunks ends before its last chunk."""
    now_and_then(
        repository,
        lambda _, proper: replace(proper, sent=len(proper.body) // 2, chunked=True),
    )


@fault(26)
def a_page_always_cut_short(repository: Repository) -> None:
    """26: a page ends in the middle of one certain record, and that is all there is of it."""

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        cut = proper.body.find(f":{POISONED:04}</identifier>".encode())
        return proper if cut < 0 or asked.verb != "ListRecords" else _half(proper, cut)

    def _half(proper: Reply, cut: int) -> Reply:
        return replace(proper, body=proper.body[:cut])


@fault(27)
def connections_reset(repository: Repository) -> None:
    """27: a connection is reset at its third request."""

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        return replace(proper, reset=asked.on_connection >= 2)


@fault(27)
def silence_now_and_then(repository: Repository) -> None:
    """27: one answer does not come within the time that one waits (a minute)."""
    silent: list[str] = []

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        if not asked.lists or silent or "resumptionToken" not in asked.params:
            return proper
        silent.append(asked.query)
        return replace(proper, pause=60.0)


@fault(28)
def gzip_not_announced(repository: Repository) -> None:
    """28: answers are packed, and no header says so."""

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        return replace(proper, body=gzip.compress(proper.body, mtime=0))


@fault(28)
def gzip_announced_and_not_sent(repository: Repository) -> None:
    """28: the header says gzip; the body is not packed."""

    @changed(repository, "reply")
    def reply(step, asked):
        return step(asked).with_header("Content-Encoding", "gzip")


@fault(28)
def gzip_in_chunks(repository: Repository) -> None:
    """28, as it should be: packed and in chunks."""

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked).with_header("Content-Encoding", "gzip")
        return replace(proper, body=gzip.compress(proper.body, mtime=0), chunked=True)


def _redirecting(repository: Repository, status: int, host: str, with_query: bool) -> None:
    @changed(repository, "reply")
    def reply(step, asked):
        if asked.path == repository.path:
            return step(asked)
        port = asked.headers.get("host", "").rpartition(":")[2]
        address = f"http://{host}:{port}" if host else ""
        query = f"?{asked.query}" if with_query else ""
        return html(status, ("Location", f"{address}{repository.path}{query}"))

    repository.path = "/oai/request/"


@fault(29)
def redirected_to_a_path(repository: Repository) -> None:
    """29: 301 to another path, with the arguments."""
    _redirecting(repository, 301, "", with_query=True)


@fault(29)
def redirected_without_arguments(repository: Repository) -> None:
    """29: 302 to another path; the arguments are forgotten."""
    _redirecting(repository, 302, "", with_query=False)


@fault(29)
def redirected_to_another_host(repository: Repository) -> None:
    """29: 308 to another host name."""
    _redirecting(repository, 308, "localhost", with_query=True)


@fault(31)
def address_with_a_query(repository: Repository) -> None:
    """31: the base URL has a query of its own; without it, there is the front page."""
    repository.base_query = "page=oai&theme=2"

    @changed(repository, "reply")
    def reply(step, asked):
        own = {"page": "oai", "theme": "2"}
        return step(asked) if own.items() <= asked.params.items() else html()


@fault(31, query="?verb=Identify")
def address_with_a_verb(repository: Repository) -> None:
    """31: what the person pasted as the base URL is a whole request."""


@fault(32)
def a_slow_record(repository: Repository) -> None:
    """32: a page with one certain record takes a while, and then drips."""

    @changed(repository, "reply")
    def reply(step, asked):
        proper = step(asked)
        slow = f":{POISONED:04}</identifier>".encode() in proper.body
        return replace(proper, pause=0.4, drip=0.03) if slow and asked.lists else proper


NOTICE = "<br />\n<b>Notice</b>:  Undefined index: <i>lang</i> in <b>oai.php</b><br />\n"


@fault(33)
def notices_around_the_answer(repository: Repository) -> None:
    """33: PHP says something before and after every answer."""

    @changed(repository, "encoded")
    def encoded(step, text):
        return step(f"{NOTICE}{text}{NOTICE}")


@fault(33)
def notices_between_records(repository: Repository) -> None:
    """33: PHP says something between two records."""

    @changed(repository, "record")
    def record(step, item):
        return step(item) + (NOTICE.replace(" />", ">") if item.number % 10 == 3 else "")

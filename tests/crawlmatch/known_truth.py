"""Generated crawls with known outcomes: every rule and case, in any number.

A `Crawl` writes what Heritrix would log, what a CDX index would say, and the list of
seeds; and for each seed row what has to come of it. Everything is made up from the
number of the case, so the same numbers give the same bytes.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

PDF, HTML, OCTET = "application/pdf", "text/html", "application/octet-stream"
UFFFD = "%EF%BF%BD"
EMPTY_SHA1 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


@dataclass(frozen=True, slots=True)
class Truth:
    """What has to come of a seed row.

    Attributes:
        finals: Its terminals; of several, each is a row.
        status: Of the first; None: nothing was attempted.
        rule: How the address was found; None: not at all.
    """

    outcome: str
    finals: tuple[str, ...] = ()
    status: str | None = None
    rule: str | None = "exact"
    dedupe: bool | None = None


@dataclass(slots=True)
class Crawl:
    """What is written, and what is true of it."""

    lines: list[str] = field(default_factory=list)
    cdx: list[str] = field(default_factory=list)
    seeds: list[tuple[str, str]] = field(default_factory=list)
    truth: dict[tuple[str, str], Truth] = field(default_factory=dict)
    bad_lines: int = 0
    tick: int = 0

    def log(self, url: str, status: int, mime: str = "unknown", *, via: str = "-", hops: str = "-",
            size: int | str = 54321, sha1: str = "", tag: str = "-", notes: str = "-",
            extra: str = "") -> str:  # fmt: skip
        """Log a line; returns the address."""
        self.tick += 1
        digest = "-" if status <= 0 else f"sha1:{sha1 or sha1_of(url)}"
        start = "-" if status < 0 else f"{self.stamp}{self.tick % 1000:03}+{self.tick % 977}"
        size = "-" if status < 0 else size
        line = (
            f"{self.time} {status:>5} {size:>10} {url} {hops} {via} {mime} "
            f"#{self.tick % 50:03} {start} {digest} {tag} {notes}"
        )
        self.lines.append(f"{line} {extra}" if extra else line)
        return url

    @property
    def seconds(self) -> int:
        return self.tick // 40

    @property
    def stamp(self) -> str:
        """The time of the last line, in 14 digits."""
        day, rest = divmod(self.seconds, 86400)
        return f"201801{day % 28 + 1:02}{rest // 3600:02}{rest // 60 % 60:02}{rest % 60:02}"

    @property
    def time(self) -> str:
        s = self.stamp
        milli = self.tick * 25 % 1000
        return f"{s[:4]}-{s[4:6]}-{s[6:8]}T{s[8:10]}:{s[10:12]}:{s[12:]}.{milli:03}Z"

    def index(
        self, url: str, mime: str, status: str, *, sha1: str = "", redirect: str = "-"
    ) -> None:
        """Add a line to the CDX."""
        key = url.partition("://")[2]
        self.cdx.append(
            f"{key} {self.stamp} {url} {mime} {status} {sha1 or sha1_of(url)} {redirect} - 1000 "
            f"{self.tick} crawl-{self.tick % 7}.warc.gz"
        )

    def seed(self, url: str, identifier: str, truth: Truth) -> None:
        """Add a seed row."""
        self.seeds.append((url, identifier))
        self.truth[url, identifier] = truth


def sha1_of(text: str) -> str:
    """A digest as Heritrix writes it."""
    return base64.b32encode(hashlib.sha1(text.encode()).digest()).decode()


Case = Callable[[Crawl, str, str], None]
"""Writes one case: crawl, host, identifier."""
CASES: dict[str, Case] = {}


def case(made: Case) -> Case:
    CASES[made.__name__] = made
    return made


# -- full texts -------------------------------------------------------------------------


@case
def direct(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/d.pdf", 200, PDF)
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def one_redirect(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/r", 302, HTML, size=210)
    url = crawl.log(f"https://{host}/r.pdf", 200, PDF, via=seed, hops="R")
    crawl.seed(seed, name, Truth("fulltext", (url,), "200"))


@case
def three_redirects(crawl: Crawl, host: str, name: str) -> None:
    one = crawl.log(f"http://{host}/rrr", 301, HTML, size=210)
    two = crawl.log(f"https://{host}/rrr", 302, HTML, via=one, hops="R", size=210)
    three = crawl.log(f"https://{host}/rrr?s=1", 307, HTML, via=two, hops="RR", size=0,
                      sha1=EMPTY_SHA1)  # fmt: skip
    url = crawl.log(f"https://cdn.{host}/rrr.pdf", 200, PDF, via=three, hops="RRR")
    crawl.seed(one, name, Truth("fulltext", (url,), "200"))


@case
def landing_page_with_link(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/item/1", 200, HTML)
    crawl.log(f"http://{host}/style.css", 200, "text/css", via=seed, hops="E")
    crawl.log(f"http://{host}/logo.png", 200, "image/png", via=seed, hops="E")
    url = crawl.log(f"http://{host}/item/1.pdf", 200, PDF, via=seed, hops="L")
    crawl.seed(seed, name, Truth("fulltext", (url,), "200"))


@case
def embedded_behind_redirects(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/err", 302, HTML, size=100)
    page = crawl.log(f"http://{host}/err.html", 200, HTML, via=seed, hops="R")
    step = crawl.log(f"http://{host}/get", 302, HTML, via=page, hops="RE", size=100)
    url = crawl.log(f"http://{host}/err.pdf", 200, PDF, via=step, hops="RER")
    crawl.seed(seed, name, Truth("fulltext", (url,), "200"))


@case
def several_terminals(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/multi", 200, HTML)
    urls = [
        crawl.log(f"http://{host}/multi-{n}.pdf", 200, PDF, via=seed, hops="L") for n in range(3)
    ]
    crawl.seed(seed, name, Truth("fulltext", tuple(urls), "200"))


@case
def several_identifiers(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/repeat.pdf", 200, PDF)
    for suffix in "abc":
        crawl.seed(url, name + suffix, Truth("fulltext", (url,), "200"))


@case
def several_links_of_one_record(crawl: Crawl, host: str, name: str) -> None:
    page = crawl.log(f"http://{host}/both", 200, HTML)
    url = crawl.log(f"http://{host}/both.pdf", 200, PDF)
    crawl.seed(page, name, Truth("landing-only", (page,), "200"))
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def retry(crawl: Crawl, host: str, name: str) -> None:
    url = f"http://{host}/retry.pdf"
    crawl.log(url, 503, HTML)
    crawl.log(url, -2)
    crawl.log(url, 200, PDF)
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def failed_after_it_came(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/late.pdf", 200, PDF)
    crawl.log(url, 404, HTML)
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def middle_of_a_chain(crawl: Crawl, host: str, name: str) -> None:
    first = crawl.log(f"http://{host}/first", 302, HTML, size=10)
    middle = crawl.log(f"http://{host}/middle", 302, HTML, via=first, hops="R", size=10)
    url = crawl.log(f"http://{host}/middle.pdf", 200, PDF, via=middle, hops="RR")
    crawl.seed(first, name + "a", Truth("fulltext", (url,), "200"))
    crawl.seed(middle, name + "b", Truth("fulltext", (url,), "200"))


@case
def document_of_the_nearest_seed(crawl: Crawl, host: str, name: str) -> None:
    """One record's page links to another's: the second one's document is not the first one's."""
    first = crawl.log(f"http://{host}/near/1", 200, HTML)
    second = crawl.log(f"http://{host}/near/2", 200, HTML, via=first, hops="L")
    url = crawl.log(f"http://{host}/near/2.pdf", 200, PDF, via=second, hops="LL")
    crawl.seed(first, name + "a", Truth("landing-only", (first,), "200"))
    crawl.seed(second, name + "b", Truth("fulltext", (url,), "200"))


@case
def ftp(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"ftp://{host}/pub/paper.ps", 226, OCTET, size=500)
    crawl.seed(url, name, Truth("fulltext", (url,), "226"))


@case
def octet_stream(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/octet", 200, "unknown", size=1000)
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def unusual_media_type(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/x", 200, '"Application/X-PDF"')
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def duplicate_of_an_earlier_crawl(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/dup.pdf", 200, PDF, notes="content type,duplicate:digest,3t",
                    extra='{"contentSize":54321,"warcFilename":"w 1.warc.gz"}')  # fmt: skip
    crawl.seed(url, name, Truth("fulltext-duplicate", (url,), "200", dedupe=True))


@case
def not_modified(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/same.pdf", 304, PDF, size=0, sha1=EMPTY_SHA1,
                    notes="duplicate:server-not-modified")  # fmt: skip
    crawl.seed(url, name, Truth("fulltext-duplicate", (url,), "304", dedupe=True))


@case
def not_modified_and_nothing_said(crawl: Crawl, host: str, name: str) -> None:
    """Of no type, as many servers answer: its suffix tells, or the digest of another page."""
    url = crawl.log(f"http://{host}/same.PDF", 304, size="-", notes="duplicate:server-not-modified")
    crawl.seed(url, name + "a", Truth("fulltext-duplicate", (url,), "304", dedupe=True))
    crawl.log(f"http://{host}/copy", 200, PDF, sha1=sha1_of(host))
    url = crawl.log(f"http://{host}/same", 304, size=0, sha1=sha1_of(host))
    crawl.seed(url, name + "b", Truth("fulltext-duplicate", (url,), "304", dedupe=True))
    url = crawl.log(f"http://{host}/what", 304, size=0)
    crawl.seed(url, name + "c", Truth("wrong-type", (url,), "304", dedupe=True))


@case
def redirect_to_a_page_crawled_before(crawl: Crawl, host: str, name: str) -> None:
    """The second hop is not logged again: only the index knows where it leads."""
    url = crawl.log(f"http://{host}/seen.pdf", 200, PDF)
    seed = crawl.log(f"http://{host}/to-seen", 302, HTML, size=10)
    crawl.index(seed, HTML, "302", redirect="/seen.pdf")
    crawl.seed(url, name + "a", Truth("fulltext", (url,), "200"))
    crawl.seed(seed, name + "b", Truth("fulltext", (url,), "200"))


@case
def captured_by_another_crawl(crawl: Crawl, host: str, name: str) -> None:
    """The target is in the index alone."""
    seed = crawl.log(f"http://{host}/elsewhere", 301, HTML, size=10)
    crawl.index(seed, HTML, "301", redirect=f"https://{host}/old.pdf")
    crawl.index(f"https://{host}/old.pdf", PDF, "200")
    crawl.seed(seed, name, Truth("fulltext", (f"https://{host}/old.pdf",), "200"))


@case
def revisit_in_the_index(crawl: Crawl, host: str, name: str) -> None:
    crawl.tick += 1
    crawl.index(f"http://{host}/a.pdf", PDF, "200", sha1=sha1_of(host))
    crawl.index(f"http://{host}/b.pdf", "warc/revisit", "-", sha1=sha1_of(host))
    seed = crawl.log(f"http://{host}/rev", 302, HTML, size=10)
    crawl.index(seed, HTML, "302", redirect=f"http://{host}/b.pdf")
    crawl.seed(
        seed, name, Truth("fulltext-duplicate", (f"http://{host}/b.pdf",), "200", dedupe=True)
    )


@case
def source_tag(crawl: Crawl, host: str, name: str) -> None:
    """The page between was never logged; the tag names the seed."""
    seed = crawl.log(f"http://{host}/tagged", 200, HTML, tag=f"http://{host}/tagged")
    url = crawl.log(f"http://{host}/tagged.pdf", 200, PDF, via=f"http://{host}/lost", hops="LL",
                    tag=seed)  # fmt: skip
    crawl.seed(seed, name, Truth("fulltext", (url,), "200"))


@case
def deep_hop_path(crawl: Crawl, host: str, name: str) -> None:
    """More than fifty hops, as Heritrix shortens them."""
    via, hops = crawl.log(f"http://{host}/deep", 200, HTML), ""
    for n in range(55):
        hops += "L"
        shown = hops if len(hops) <= 50 else f"{len(hops) - 50}+{hops[-50:]}"
        last = n == 54
        url = f"http://{host}/deep/{n}" + (".pdf" if last else "")
        via = crawl.log(url, 200, PDF if last else HTML, via=via, hops=shown)
    crawl.seed(f"http://{host}/deep", name, Truth("fulltext", (via,), "200"))


# -- everything else --------------------------------------------------------------------


@case
def landing_page_alone(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/html", 200, HTML)
    crawl.log(f"http://{host}/html.css", 200, "text/css", via=url, hops="E")
    crawl.log(f"http://{host}/gone.pdf", 404, HTML, via=url, hops="L")
    crawl.seed(url, name, Truth("landing-only", (url,), "200"))


@case
def landing_page_behind_a_redirect(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/doi", 302, HTML, size=10)
    url = crawl.log(f"http://{host}/landing", 200, "application/xhtml+xml", via=seed, hops="R")
    crawl.seed(seed, name, Truth("landing-only", (url,), "200"))


@case
def wrong_type(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/x.png", 200, "image/png")
    crawl.seed(url, name, Truth("wrong-type", (url,), "200"))


@case
def tiny(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/tiny", 200, OCTET, size=999)
    crawl.seed(url, name, Truth("empty", (url,), "200"))


@case
def empty(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/empty.pdf", 200, PDF, size=0)
    crawl.seed(url, name + "a", Truth("empty", (url,), "200"))
    url = crawl.log(f"http://{host}/empty2.pdf", 200, PDF, size="-", sha1=EMPTY_SHA1)
    crawl.seed(url, name + "b", Truth("empty", (url,), "200"))


@case
def cookie_wall(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/article", 302, HTML, size=10)
    url = crawl.log(f"http://{host}/article?cookieSet=1", 200, HTML, via=seed, hops="R")
    crawl.seed(seed, name, Truth("cookie-wall", (url,), "200"))


@case
def cookie_loop(crawl: Crawl, host: str, name: str) -> None:
    """The crawler does not go back to a page it has been to: the index says where it was sent."""
    seed = crawl.log(f"http://{host}/round", 302, HTML, size=10)
    crawl.log(f"http://{host}/round?cookieSet=1", 302, HTML, via=seed, hops="R", size=10)
    crawl.index(f"http://{host}/round?cookieSet=1", HTML, "302", redirect=seed)
    crawl.seed(seed, name, Truth("cookie-wall", (seed,), "302"))


@case
def robot_defence(crawl: Crawl, host: str, name: str) -> None:
    """The Governor, as it is fetched, and where only the index says where it was sent."""
    governor = f"http://{host}/crawlprevention/governor?content=%2farticle%2f1"
    seed = crawl.log(f"http://{host}/doi/1", 302, HTML, size=10)
    url = crawl.log(governor, 200, HTML, via=seed, hops="R")
    crawl.seed(seed, name + "a", Truth("robot-defence", (url,), "200"))
    sent = crawl.log(f"http://{host}/doi/2", 302, HTML, size=10)
    crawl.index(sent, HTML, "302", redirect=f"http://{host}/captcha?for=2")
    crawl.seed(sent, name + "b", Truth("robot-defence", (sent,), "302"))
    first = crawl.log(f"http://{host}/doi/3", 302, HTML, size=10)
    middle = crawl.log(f"http://{host}/doi/3?cookieSet=1", 302, HTML, via=first, hops="R", size=9)
    last = crawl.log(f"{governor}3", 403, HTML, via=middle, hops="RR")
    crawl.seed(first, name + "c", Truth("robot-defence", (last,), "403"))
    gone = crawl.log(f"http://{host}/captcha/paper.pdf", 404, HTML)
    crawl.seed(gone, name + "d", Truth("http-4xx", (gone,), "404"))


@case
def nobody_owns_what_a_defence_links_to(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/doi/4", 302, HTML, size=10)
    url = crawl.log(f"http://{host}/crawlprevention/governor", 200, HTML, via=seed, hops="R")
    crawl.log(f"http://{host}/terms.pdf", 200, PDF, via=url, hops="RL")
    crawl.seed(seed, name, Truth("robot-defence", (url,), "200"))


@case
def redirect_loop(crawl: Crawl, host: str, name: str) -> None:
    seed = crawl.log(f"http://{host}/loop", 302, HTML, size=10)
    crawl.log(f"http://{host}/loop/2", 302, HTML, via=seed, hops="R", size=10)
    crawl.index(f"http://{host}/loop/2", HTML, "302", redirect=seed)
    crawl.seed(seed, name, Truth("redirect-loop", (seed,), "302"))


@case
def logged_loop(crawl: Crawl, host: str, name: str) -> None:
    """Both pages name each other as the one before."""
    seed, other = f"http://{host}/ping", f"http://{host}/pong"
    crawl.log(seed, 302, HTML, via=other, hops="RR", size=10)
    crawl.log(other, 302, HTML, via=seed, hops="R", size=10)
    crawl.seed(seed, name, Truth("redirect-loop", (seed,), "302"))


@case
def endless_redirects(crawl: Crawl, host: str, name: str) -> None:
    seed = via = crawl.log(f"http://{host}/endless", 302, HTML, size=10)
    for n in range(45):
        hops = "R" * (n + 1)
        via = crawl.log(f"http://{host}/endless?{n}", 302, HTML, via=via, hops=hops, size=10)
    crawl.seed(seed, name, Truth("redirect-loop", (seed,), "302"))


@case
def redirect_uncaptured(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/away", 302, HTML, size=10)
    crawl.seed(url, name, Truth("redirect-uncaptured", (url,), "302"))


@case
def robots_file_is_no_child(crawl: Crawl, host: str, name: str) -> None:
    url = f"http://{host}/failed.pdf"
    crawl.log(f"dns:{host}", 1, "text/dns", via=url, hops="P")
    crawl.log(f"http://{host}/robots.txt", 200, "text/plain", via=url, hops="P")
    crawl.log(url, 503, HTML)
    crawl.seed(url, name, Truth("http-5xx", (url,), "503"))


@case
def answered_404(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/404.pdf", 404, HTML)
    crawl.log(f"http://{host}/other.html", 200, HTML, via=url, hops="L")
    crawl.seed(url, name, Truth("http-4xx", (url,), "404"))


@case
def rate_limited(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/429.pdf", 429, HTML)
    crawl.seed(url, name, Truth("rate-limited", (url,), "429"))


@case
def unreachable(crawl: Crawl, host: str, name: str) -> None:
    for status in (-1, -2, -4, -6, -8, -61):
        url = crawl.log(f"http://{host}/dead{status}.pdf", status)
        crawl.seed(url, f"{name}{status}", Truth("unreachable", (url,), str(status)))


@case
def forbidden_by_robots(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/robots.pdf", -9998)
    crawl.seed(url, name, Truth("robots", (url,), "-9998"))


@case
def out_of_scope(crawl: Crawl, host: str, name: str) -> None:
    url = crawl.log(f"http://{host}/scope.pdf", -5000)
    crawl.seed(url, name, Truth("out-of-scope", (url,), "-5000"))


@case
def not_attempted(crawl: Crawl, host: str, name: str) -> None:
    crawl.seed(f"http://{host}/never.pdf", name, Truth("not-attempted", rule=None))


@case
def bad_url(crawl: Crawl, host: str, name: str) -> None:
    crawl.seed(f"http://{host}:8080papers/x.pdf", name + "a", Truth("bad-url", rule=None))
    crawl.seed(f"mailto:someone@{host}", name + "b", Truth("bad-url", rule=None))


@case
def bad_lines(crawl: Crawl, host: str, name: str) -> None:
    crawl.lines += [
        "",
        "half a li",
        f"2018-01-01T00:00:00.000Z two - http://{host}/ - - - - - - - -",
    ]
    crawl.bad_lines += 3
    url = crawl.log(f"http://{host}/among.pdf", 200, PDF, size="-")
    crawl.seed(url, name, Truth("fulltext", (url,), "200"))


@case
def two_that_became_the_same(crawl: Crawl, host: str, name: str) -> None:
    """Nobody knows which of them the page is, also if one of them was fetched as it is."""
    crawl.log(f"http://{host}/{2 * UFFFD}.pdf", 404, HTML)
    for letter in "\xe4\xf6":
        crawl.seed(f"http://{host}/{letter}.pdf", name, Truth("not-attempted", rule=None))
    crawl.log(f"http://{host}/x{2 * UFFFD}.pdf", 404, HTML)
    right = crawl.log(f"http://{host}/x%C3%A4.pdf", 200, PDF)
    crawl.seed(f"http://{host}/x\xe4.pdf", name, Truth("fulltext", (right,), "200", "heritrix"))
    crawl.seed(f"http://{host}/x\xf6.pdf", name, Truth("not-attempted", rule=None))


# -- addresses --------------------------------------------------------------------------


def _spelled(given: str, logged: str, rule: str) -> Case:
    def made(crawl: Crawl, host: str, name: str) -> None:
        url = crawl.log(logged.replace("HOST", host), 200, PDF)
        seed = given.replace("HOST", host)
        crawl.seed(seed, name, Truth("fulltext", (url,), "200", rule))

    return made


CASES |= {
    f"spelled_{name}": _spelled(*forms)
    for name, forms in {
        "capitals": ("http://WWW.HOST/A.pdf", "http://www.HOST/A.pdf", "heritrix"),
        "empty_port": ("http://HOST:/ep.pdf", "http://HOST/ep.pdf", "heritrix"),
        "default_port": ("http://HOST:80/dp.pdf", "http://HOST/dp.pdf", "heritrix"),
        "default_tls_port": ("https://HOST:443/ds.pdf", "https://HOST/ds.pdf", "heritrix"),
        "dots": ("http://HOST/a/../dots/./d.pdf", "http://HOST/dots/d.pdf", "heritrix"),
        "blank": ("http://HOST/A case.pdf", "http://HOST/A%20case.pdf", "heritrix"),
        "brackets": ("http://HOST/a[1].pdf", "http://HOST/a%5B1%5D.pdf", "heritrix"),
        "unicode": ("http://HOST/größe.pdf", "http://HOST/gr%C3%B6%C3%9Fe.pdf", "heritrix"),
        "wrong_charset": ("http://HOST/gr\ufffde.pdf", "http://HOST/gr%EF%BF%BDe.pdf", "heritrix"),
        "fragment": ("http://HOST/f.pdf#page=2", "http://HOST/f.pdf", "heritrix"),
        "root": ("http://HOST", "http://HOST/", "heritrix"),
        "path_letters": ("http://HOST/a&b=c@d*e|f'g.pdf;jsessionid=1",
                         "http://HOST/a&b=c@d*e|f'g.pdf;jsessionid=1", "exact"),
        "browser": ("http://HOST/b[1] .pdf", "http://HOST/b[1]%20.pdf", "whatwg"),
        "tls": ("http://HOST/tls.pdf", "https://HOST/tls.pdf", "surt"),
        "www": ("http://HOST/www.pdf", "http://www.HOST/www.pdf", "surt"),
        "trailing_slash": ("http://HOST/slash", "http://HOST/slash/", "surt"),
        "ufffd": ("http://HOST/\u0417\u041e-1.pdf", f"http://HOST/{4 * UFFFD}-1.pdf", "ufffd"),
        "ufffd_of_escapes": ("http://HOST/gr%C3%B6.pdf", f"http://HOST/gr{2 * UFFFD}.pdf", "ufffd"),
        "ufffd_of_a_no_break_space": ("http://HOST/?f=A\xa0case.pdf",
                                      f"http://HOST/?f=A{2 * UFFFD}case.pdf", "ufffd"),
        "tilde": ("http://HOST/%7Euser/t.pdf", "http://HOST/~user/t.pdf", "surt"),
    }.items()
}  # fmt: skip

WARC = "OA-CRAWL-2018-01-{}0108122113315-14533-11460~crawler-node{:03}.us.example.org~8443.warc.gz"
"""A name as Heritrix gives it."""


def detailed(lines: list[str]) -> list[str]:
    """The lines of a log as Heritrix writes them with logExtraInfo: JSON at the end of answers."""
    return [
        f"{line} {_place_of(line, number)}" if len(f := line.split()) == 12 and f[1] > "0" else line
        for number, line in enumerate(lines)
    ]


def _place_of(line: str, number: int) -> str:
    size = len(line) * 397 % 100_000
    return (
        f'{{"contentSize":{size},"warcFilename":"{WARC.format(number % 7, number % 31)}",'
        f'"warcFileOffset":{number * 7919 % 1_000_000_000}}}'
    )


def indexed(crawl: Crawl, *, redirects: bool = False) -> list[str]:
    """Index lines of everything that the log says was answered, beside those of the crawl.

    Args:
        redirects: Whether they say where a page was redirected to, as the log does.
    """
    lines = list(crawl.cdx)
    fields = [found for line in crawl.lines if len(found := line.split()) >= 12]
    led = {f[5]: f[3] for f in fields if f[4].endswith("R")} if redirects else {}
    for number, f in enumerate(fields):
        if not f[1].isdigit() or not f[3].startswith("http"):
            continue
        status, url, mime, started, digest = f[1], f[3], f[6], f[8], f[9]
        mime = "warc/revisit" if any("duplicate:" in note for note in f[11:]) else mime
        target = led.get(url, "-") if status.startswith("3") else "-"
        host, _, path = url.partition("://")[2].partition("/")
        lines.append(
            f"{','.join(reversed(host.split('.')))})/{path} {started[:14]} {url} {mime} {status}"
            f" {digest.removeprefix('sha1:')} {target} - 54321 {number * 7919 % 1_000_000_000}"
            f" {WARC.format(number % 7, number % 31)}"
        )
    return lines


NOISE = ("style.css text/css", "logo.png image/png", "app.js application/javascript")


def crawls(cases: int, *, kinds: tuple[str, ...] = (), noise: int = 0, first: int = 0) -> Crawl:
    """So many cases from a number on, of each kind in turn, with lines of noise for each."""
    crawl = Crawl(tick=10 * first)
    for number, kind in _numbered(first, cases, kinds or tuple(CASES)):
        host = f"h{number}.example.org"
        CASES[kind](crawl, host, f"oai:example.org:{number}")
        for n in range(noise):
            name, mime = NOISE[n % 3].split()
            crawl.log(f"http://{host}/n{n}/{name}", 200, mime, via=f"http://{host}/", hops="LE")
    return crawl


def _numbered(first: int, cases: int, kinds: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for number in range(first, first + cases):
        yield number, kinds[number % len(kinds)]

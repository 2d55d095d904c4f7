"""The configuration of a job from a target, and the files that feed it."""

from datetime import timedelta

import pytest
from lxml import etree

from recordsilo import Silo
from silocrawl.answers import Answers
from silocrawl.cdxj import Segments
from silocrawl.checks import check_launched
from silocrawl.errors import TargetRefused
from silocrawl.heritrix.feeding import action_files, fed_mark, feed_once
from silocrawl.heritrix.jobs import JobPlan, ProfileUnknown, configuration, surts_of
from silocrawl.launching import launch_now
from silocrawl.messages import CHECK, CRAWL, CrawlAddress, message_of
from silocrawl.paths import answers_file, index_directory
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, Limits, add_target, load_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, MessageState

WHEN, CONTACT = Timetable(every=timedelta(days=1)), "https://example.org/crawler?a=b"


@pytest.mark.parametrize(
    ("kind", "seed", "prefixes"),
    [
        ("page", "https://www.example.org/a/b", []),
        ("documents", "https://www.example.org/a/b", []),
        ("path", "https://www.example.org/a/b?c/d",
         ["http://(org,example,)/a/", "http://(org,example,www,)/a/"]),
        ("path", "http://example.org", ["http://(org,example,)/", "http://(org,example,www,)/"]),
        ("root", "http://a.example.org:8080/x/y",
         ["http://(org,example,a,:8080)/", "http://(org,example,a,www,:8080)/"]),
        ("subdomains", "http://www.example.org/", ["http://(org,example,"]),
        ("root", "http://127.0.0.1:80/x", ["http://(127.0.0.1)/"]),
    ],
)  # fmt: skip
def test_scopes_as_surt_prefixes(kind: str, seed: str, prefixes: list[str]) -> None:
    assert surts_of(Scope(ScopeKind(kind)), seed) == prefixes


RULES = "".join(
    f'<bean class="org.archive.modules.deciderules.{name}DecideRule"/>'
    for name in ("Reject", "TooManyHops", "Transclusion", "MatchesListRegex")
)
PROFILE = f"""<?xml version="1.0" encoding="UTF-8"?>
<beans xmlns="http://www.springframework.org/schema/beans">
 <bean id="simpleOverrides" class="x"><property name="properties"><value>
metadata.operatorContactUrl=ENTER_AN_URL
 </value></property></bean>
 <bean id="longerOverrides" class="x"><property name="properties"><props>
  <prop key="seeds.textSource.value">http://example.example/example</prop>
 </props></property></bean>
 <bean id="acceptSurts" class="x"/>
 <bean id="scope" class="x"><property name="rules"><list>{RULES}</list></property></bean>
</beans>""".encode()
"""As those of 3.4.0 and 3.13.0 are, as far as it matters here."""


def made(target: CrawlTarget, **more: object) -> etree._Element:
    plan = JobPlan("theses", target, CONTACT, **more)  # type: ignore[arg-type]
    return etree.fromstring(configuration(PROFILE, plan))


def texts(root: etree._Element, path: str) -> list[str]:
    found = root.xpath(path)
    assert isinstance(found, list)
    return [str(one).strip() for one in found if str(one).strip()]


def test_a_job_has_the_scope_limits_and_paces_of_its_target() -> None:
    target = CrawlTarget(
        "theses", WHEN, "http://www.example.org/theses/?a=1&b=2",
        scope=Scope(ScopeKind.PATH, True, ("*/login?*", "*.zip")), limits=Limits(7, 8_000, 900, 3),
    )  # fmt: skip
    root = made(target, interval=2.5, delays={"slow.example.org": 20.0})
    (lines,) = texts(root, "//*[@id='simpleOverrides']/*/*/text()")
    said = dict(line.split("=", 1) for line in lines.splitlines())
    assert said["metadata.operatorContactUrl"] == CONTACT
    assert said["crawlLimiter.maxDocumentsDownload"] == "7"
    assert said["crawlLimiter.maxBytesDownload"] == "8000"
    assert said["crawlLimiter.maxTimeSeconds"] == "900"
    assert said["crawlController.runWhileEmpty"] == "false"
    assert said["disposition.minDelayMs"] == "2500"
    assert texts(root, "//*[@key='seeds.textSource.value']/text()") == [target.url]
    assert texts(root, "//*[@id='acceptSurts']//*[local-name()='value']/text()") == [
        "+http://(org,example,)/theses/\n+http://(org,example,www,)/theses/"
    ]
    assert texts(root, "//*[@id='acceptSurts']/*[@name='alsoCheckVia']/@value") == ["true"]
    assert texts(root, "//*[@name='maxHops']/@value") == ["3"]
    (first, second) = texts(root, "//*[@name='regexList']//*[local-name()='value']/text()")
    assert ("login" in first, "zip" in second) == (True, True)
    assert texts(root, "//*[@id='silo-delay-1']//@key")[0] == "disposition.minDelayMs"
    assert texts(root, "//*[@id='silo-delay-1']//*/@value")[0] == "20000"
    assert "http://(org,example,slow,)" in texts(root, "//*[@name='surtPrefixes']//text()")


def test_a_job_of_the_links_of_records_waits_to_be_fed() -> None:
    root = made(CrawlTarget("links", WHEN, scope=Scope(plus_one=True)), seeds=50)
    (lines,) = texts(root, "//*[@id='simpleOverrides']/*/*/text()")
    assert "crawlController.runWhileEmpty=true" in lines
    assert "crawlLimiter.maxDocumentsDownload=50000" in lines
    assert texts(root, "//*[@key='seeds.textSource.value']/text()") == []
    assert texts(root, "//*[@name='maxHops']/@value") == ["0"]
    assert texts(root, "//*[@name='regex']/@value") == [
        "[REI]*L?[REI]*", texts(root, "//*[@name='regex']/@value")[1],
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"<beans/>", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"])
def test_another_profile_is_refused(content: bytes) -> None:
    with pytest.raises(ProfileUnknown):
        configuration(content, JobPlan("j", CrawlTarget("t", WHEN, "http://a.example/"), CONTACT))


@pytest.mark.parametrize(
    "contact", ["", "me@example.org", "https://a b", "https://a\nx=y", "http://a\\"]
)
def test_a_contact_is_an_address(contact: str) -> None:
    with pytest.raises(TargetRefused, match="contact"):
        JobPlan("j", CrawlTarget("t", WHEN, "http://a.example/"), contact)


def test_files_of_the_action_directory() -> None:
    seed = CrawlAddress("http://a.example/x", launch="t/20261201T020000Z")
    hop = seed.hop("http://a.example/y", "L")
    some = [seed, hop, CrawlAddress("http://a.example/z", is_forced=True)]
    files = action_files(some, {seed.launch: Scope(ScopeKind.ROOT)})
    by_kind = {name.rpartition(".")[2]: content.decode() for name, content in files.items()}
    assert by_kind == {
        "seeds": ("+http://(example,a,)/\n+http://(example,a,www,)/\nhttp://a.example/x\n"),
        "schedule": "F+ http://a.example/y L http://a.example/x\n",
        "force": "F+ http://a.example/z - -\n",
    }
    assert action_files(some, {seed.launch: Scope(ScopeKind.ROOT)}) == files


def test_what_was_fed_is_acknowledged_after_it_was_written(
    silo: Silo, queues: SqliteQueues
) -> None:
    add_target(silo.path, CrawlTarget("t", WHEN, "http://a.example/x"))
    launched = launch_now(silo, queues, load_target(silo.path, "t"))
    queues.put([Message(CRAWL, b'{"url": "http://a.example/a\\nF+ http://b.example/"}', "x")])
    written: dict[str, bytes] = {}

    def refuse(_name: str, _content: bytes) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        feed_once(silo.path, queues, "j", refuse)
    assert queues.sizes()[CRAWL].waiting == 1
    assert feed_once(silo.path, queues, "j", written.__setitem__) == 1
    assert list(written.values()) == [b"http://a.example/x\n"]
    assert feed_once(silo.path, queues, "j", written.__setitem__) == 0
    (dead,) = queues.peek(CRAWL, MessageState.DEAD)
    assert "blanks or control" in dead.reason
    launch = f"t/{launched.due:%Y%m%dT%H%M%SZ}"
    assert queues.mark(fed_mark(launch)) == "j"
    late = CrawlAddress("http://a.example/x", "http://a.example/x", launch)
    queues.put([message_of(late, CHECK, key="late")])
    with Answers(answers_file(silo.path)) as answers:
        assert check_launched(queues, Segments(index_directory(silo.path)), answers) == 0
    assert queues.sizes()[CRAWL].waiting == 0

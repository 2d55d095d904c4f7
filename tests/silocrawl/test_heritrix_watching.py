"""Heritrix watched: what is expected of its jobs, and what is said if it is not so."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fake_heritrix import FakeHeritrix, fake_heritrix, job_xml
from real_heritrix import RealHeritrix
from site_of_traps import Site, page, served
from waiting import wait_until

from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from silocrawl.conditions import Condition, Word, ago
from silocrawl.heritrix.engines import (
    EngineSettings,
    EnginesInvalid,
    connected,
    load_engines,
    password_of,
)
from silocrawl.heritrix.states import HeritrixAction, HeritrixEngine, HeritrixJob, HeritrixState
from silocrawl.heritrix.watching import JobSeen, conditions_of, longest_queues
from silocrawl.monitor import look
from silocrawl.paths import heritrix_file

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SETTINGS = EngineSettings("main", "https://127.0.0.1:8443", least_rate=0.5)
ENGINE = HeritrixEngine("3.13.0", "/jobs", 10, 1_000, (("daily", "Active: RUNNING"),))
LINE = "2026-11-28T11:{:02}:00.123Z   200  10 http://a.example/ - -"
BUSY = HeritrixJob(
    "daily", HeritrixState.RUNNING, downloaded=10, queued=5, rate=2.0, crawl_log=(LINE.format(59),)
)


@pytest.fixture
def fake() -> Iterator[FakeHeritrix]:
    with fake_heritrix() as made:
        yield made


def written(silo: Silo, text: str) -> Silo:
    path = Path(heritrix_file(silo.path))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return silo


def judged(
    job: HeritrixJob | None, settings: EngineSettings = SETTINGS, checkpoint: str = ""
) -> Condition:
    _engine, found = conditions_of(settings, ENGINE, [JobSeen("daily", job, checkpoint)], NOW)
    return found


def changed(**fields: object) -> HeritrixJob:
    known = {name: getattr(BUSY, name) for name in HeritrixJob.__slots__}
    return HeritrixJob(**{**known, **fields})


@pytest.mark.parametrize(
    ("job", "word", "said"),
    [
        (BUSY, Word.GOOD, "RUNNING: 10 fetched, 5 wait, 2.0 a second, no checkpoint"),
        (changed(crawl_log=(LINE.format(44),)), Word.ALERT, "stuck: nothing was fetched since"),
        (changed(crawl_log=(LINE.format(44),), queued=0), Word.GOOD, "0 wait"),
        (changed(crawl_log=("?",), rate=2.0), Word.GOOD, "RUNNING"),
        (changed(rate=0.4), Word.WARNING, "slow: less than 0.5 addresses a second"),
        (changed(state=HeritrixState.PAUSED), Word.WARNING, "it is paused"),
        (changed(state=HeritrixState.EMPTY, queued=0, rate=0.0), Word.GOOD, "EMPTY"),
        (
            changed(state=HeritrixState.FINISHED, description="Finished: ABORTED"),
            Word.ALERT,
            "ABORTED",
        ),
        (changed(alerts=1, log=("x SEVERE the disk is full",)), Word.WARNING, "the disk is full"),
        (None, Word.ALERT, "there is no such job"),
    ],
)  # fmt: skip
def test_a_job_is_judged_by_what_it_does(job: HeritrixJob | None, word: Word, said: str) -> None:
    found = judged(job)
    assert (found.word, said in found.said, bool(found.advice)) == (word, True, word != Word.GOOD)
    assert found.label == "job main/daily"
    assert "{0}" not in found.advice


def test_the_last_checkpoint_has_an_age_and_a_limit() -> None:
    settings = EngineSettings("main", SETTINGS.url, checkpoint=timedelta(hours=6))
    young, old = "cp00002-20261128090000", "cp00001-20261127090000"
    assert judged(BUSY, settings, young).said.endswith(f"checkpoint {young} (3 hours ago)")
    assert judged(BUSY, settings, old).word is Word.WARNING
    assert "silo crawl heritrix checkpoint daily" in judged(BUSY, settings, old).advice
    assert judged(changed(seconds=60.0), settings).word is Word.GOOD
    assert judged(changed(seconds=7 * 3_600.0), settings).word is Word.WARNING
    assert [ago(timedelta(seconds=one)) for one in (-1, 119, 7_300, 200_000)] == [
        "0 seconds ago", "119 seconds ago", "2 hours ago", "2 days ago",
    ]  # fmt: skip


def test_an_engine_that_has_little_memory_left_is_a_warning() -> None:
    engine = HeritrixEngine("3.13.0", "/jobs", 990, 1_000, ())
    (found,) = conditions_of(SETTINGS, engine, [], NOW)
    assert (found.label, found.word) == ("heritrix main", Word.WARNING)


def test_all_engines_and_their_jobs_are_in_the_status(
    silo: Silo, fake: FakeHeritrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERITRIX_PASSWORD", "pä:ss")
    fake.states = ["PAUSED"]
    fake.checkpoints = ["cp00001-20261128100000"]
    written(silo, f'[main]\nurl = "{fake.url}"\njobs = ["site", "gone"]\n'
                  f'[other]\nurl = "http://{LOOPBACK}:1"\n')  # fmt: skip
    begin = time.monotonic()
    found = {one.label: one for one in look(silo.path).conditions}
    assert time.monotonic() - begin < 5
    assert found["heritrix main"].word is Word.GOOD
    assert found["job main/site"].word is Word.WARNING
    assert "checkpoint cp00001-20261128100000" in found["job main/site"].said
    assert found["job main/gone"].said == "there is no such job"
    other = found["heritrix other"]
    assert (other.word, "gives no answer" in other.said) == (Word.ALERT, True)


def test_an_answer_that_is_none_is_an_alert(silo: Silo, fake: FakeHeritrix) -> None:
    written(silo, f'[main]\nurl = "{fake.url}"\n')
    for answer in ((200, b"<html>"), (500, b""), (401, b""), (200, job_xml("RUNNING"))):
        fake.answer = lambda *_, answer=answer: answer
        (found,) = (one for one in look(silo.path).conditions if one.name == "heritrix")
        assert found.word is Word.ALERT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("main = 3", "is not a table such as"),
        ('[main]\nuser = "x"', "[main] has no url"),
        (
            '[main]\nurl = "https://h"\nport = 3',
            "there is no setting 'port'; there are url",
        ),
        ('[main]\nurl = "https://h"\njobs = [3]', "jobs is a list of texts"),
        ('[main]\nurl = "https://h"\ncheckpoint = "often"', "'often' is not a duration"),
        ('[main]\nurl = "https://h"\ndocs-per-second = true', "docs-per-second is a number"),
        ("[main", "cannot be read: it is not valid TOML"),
    ],
)
def test_wrong_settings_are_a_sentence_and_an_alert(silo: Silo, text: str, said: str) -> None:
    written(silo, text)
    with pytest.raises(EnginesInvalid) as error:
        load_engines(silo.path)
    assert said in str(error.value)
    (found,) = (one for one in look(silo.path).conditions if one.name == "heritrix")
    assert (found.word, said in found.said) == (Word.ALERT, True)


def test_the_password_is_of_the_environment_or_of_netrc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERITRIX_PASSWORD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert password_of(SETTINGS.url, "admin") == ""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login admin password of-netrc\n")
    netrc.chmod(0o600)
    assert password_of(SETTINGS.url, "admin") == "of-netrc"
    assert password_of(SETTINGS.url, "other") == ""
    monkeypatch.setenv("HERITRIX_PASSWORD", "of-environment")
    assert password_of(SETTINGS.url, "admin") == "of-environment"


def test_a_certificate_that_cannot_be_read_is_a_sentence(silo: Silo) -> None:
    written(silo, '[main]\nurl = "https://h.example:8443"\ncertificate = "none.pem"\n')
    (engine,) = load_engines(silo.path)
    with pytest.raises(EnginesInvalid, match=r"crawling/none\.pem cannot be read: No such file"):
        connected(engine, 1.0)


@pytest.mark.long
def test_a_real_heritrix_at_work_is_good_and_tells_its_longest_queues(
    silo: Silo, heritrix: RealHeritrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site()
    for number in range(60):
        site.pages[f"/{number}"] = lambda _headers: (time.sleep(0.1), page("x"))[1]
    site.pages["/"] = page("".join(f'<a href="/{number}">x</a>' for number in range(60)))
    monkeypatch.setenv("HERITRIX_PASSWORD", heritrix.password)
    text = f'[main]\nurl = "{heritrix.url}"\nuser = "{heritrix.user}"\njobs = ["watched"]\n'
    written(silo, text)
    with served(site):
        heritrix.make_job("watched", [site.url + "/"], {"crawlController.maxToeThreads": "1"})
        (found,) = (one for one in look(silo.path).conditions if one.name == "job")
        assert (found.word, "not at work" in found.said) == (Word.ALERT, True)
        heritrix.client.launch("watched")
        wait_until(lambda: heritrix.client.job("watched").downloaded > 2, between=0.2)
        conditions = {one.label: one for one in look(silo.path).conditions}
        assert conditions["heritrix main"].word is Word.GOOD
        assert conditions["job main/watched"].said.startswith("RUNNING: ")
        assert conditions["job main/watched"].word is Word.GOOD
        ((queue, number),) = longest_queues(heritrix.client, "watched")
        assert (site.url.rpartition(":")[2] in queue, number > 0) == (True, True), queue
        heritrix.client.act("watched", HeritrixAction.PAUSE)
        name = heritrix.client.checkpoint("watched").checkpoint
        (found,) = (one for one in look(silo.path).conditions if one.name == "job")
        assert (found.word, f"checkpoint {name}" in found.said) == (Word.WARNING, True)
        heritrix.client.act("watched", HeritrixAction.TERMINATE)

"""The commands `silo crawl heritrix …`, against a fake one: what is printed, and exit codes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_heritrix import FakeHeritrix, fake_heritrix, job_xml

from recordsilo.cli import silo_command
from silocrawl.heritrix.questions import PENDING_FROM, URL_STATUS, addresses_of, literal

Run = Callable[..., Result]


@pytest.fixture
def fake() -> Iterator[FakeHeritrix]:
    with fake_heritrix() as made:
        yield made


@pytest.fixture
def run(fake: FakeHeritrix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("HERITRIX_URL", fake.url)
    monkeypatch.setenv("HERITRIX_PASSWORD", "secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda *words: CliRunner().invoke(silo_command, ["crawl", "heritrix", *words])


def answers(fake: FakeHeritrix, output: str, exception: str = "") -> None:
    """Let each script print this."""
    fake.states = ["RUNNING"]
    told = f"<script><rawOutput>{output}</rawOutput><exception>{exception}</exception></script>"
    fake.answer = lambda _, path, __: (200, told.encode()) if path.endswith("/script") else None


def test_states_are_shown_in_lines_and_as_json(fake: FakeHeritrix, run: Run) -> None:
    counts = "<downloadedUriCount>1234</downloadedUriCount><queuedUriCount>7</queuedUriCount>"
    shown = job_xml("RUNNING", uriTotalsReport=counts, statusDescription="Active\x7f: RUNNING")
    fake.answer = lambda _, path, __: (200, shown) if path.endswith("/site") else None
    told = run("status")
    assert told.exit_code == 0
    assert "Heritrix 3.13.0" in told.output
    assert "1,234 fetched          7 wait" in told.output
    assert "not pinned; see silo crawl heritrix trust" in told.stderr
    assert json.loads(run("status", "--json").stdout)["jobs"][0]["downloaded"] == 1234
    assert run("list-jobs").stdout == "site\n"
    assert json.loads(run("list-jobs", "--json").stdout)[0]["name"] == "site"
    assert "state          RUNNING" in run("job-info").stdout
    assert "\\x7f" in run("job-info", "site").stdout
    assert json.loads(run("job-info", "--json").stdout)["state"] == "RUNNING"
    assert run("info-xml").stdout_bytes == shown


def test_actions_say_what_is_and_that_nothing_was_to_do(fake: FakeHeritrix, run: Run) -> None:
    assert run("launch", "site").output == "site is RUNNING\n"
    assert run("launch", "site").output == "site is RUNNING: nothing to launch\n"
    assert run("pause", "site").output == "site is PAUSED\n"
    fake.checkpoints = ["cp00001-20261128100000"]
    told = "site is PAUSED; checkpoint cp00001-20261128100000: nothing to checkpoint\n"
    assert run("checkpoint", "site").output == told
    refused = run("teardown", "site")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "is PAUSED, and permits no teardown; terminate it first" in refused.stderr
    fake.states = ["PAUSING"]
    late = run("pause", "site", "--wait", "0.1")
    assert late.exit_code == 75
    assert "the same command goes on waiting" in late.stderr


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [(401, 3, "does not accept the login of admin"), (500, 3, "HTTP 500"), (404, 2, "no job")],
)
def test_what_fails_ends_in_a_sentence(
    fake: FakeHeritrix, run: Run, status: int, code: int, said: str
) -> None:
    fake.answer = lambda *_: (status, b"")
    ended = run("job-info", "nope")
    assert (ended.exit_code, ended.stdout) == (code, "")
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_where_nobody_answers_and_without_a_password(
    fake: FakeHeritrix, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nobody = run("status", "-H", "https://127.0.0.1:1")
    assert (nobody.exit_code, "gives no answer: the connection was refused" in nobody.stderr) == (
        3,
        True,
    )
    assert "it is one such as" not in nobody.stderr
    assert "is not secure: use https" in run("status", "-H", "http://example.org").stderr
    (tmp_path / "x.pem").write_text("none")
    wrong = run("status", "-H", "https://127.0.0.1:1", "--certificate", str(tmp_path / "x.pem"))
    assert "holds none in PEM" in wrong.stderr
    monkeypatch.delenv("HERITRIX_PASSWORD")
    assert "no password for admin: set HERITRIX_PASSWORD" in run("status").stderr
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login admin password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert run("status").exit_code == 0


def test_answers_of_scripts_are_shown_and_escaped(fake: FakeHeritrix, run: Run) -> None:
    answers(fake, '{"url": "http://a/\\u001b[0m", "hops": "L", "via": null}\n')
    told = run("pending-urls", "site", "-l", "5")
    assert told.stdout == "http://a/\\x1b[0m\tL\t-\n"
    assert "1 address" in told.stderr
    answers(fake, '{"decision": "ACCEPT", "surt": "http://(org,example,"}\n')
    assert run("surt-scope").stdout == "ACCEPT\thttp://(org,example,\n"
    answers(fake, '{"rule": "A", "settings": {"b": "1", "a": "2"}}\n')
    assert run("show-decide-rules").stdout == "A\ta=2 b=1\n"
    answers(fake, '{"b": 1, "a": "x"}\n')
    assert run("show-metadata").stdout == "a\tx\nb\t1\n"
    answers(fake, '{"url": "http://a/", "known": true, "history": [{"status": "200"}]}\n')
    assert "fetched    status=200" in run("url-status", "http://a/").stdout
    assert json.loads(run("url-status", "http://a/", "--json").stdout)["known"] is True
    answers(fake, '{"thread": 1, "seconds": 70, "url": "http://a/"}\n')
    assert run("kill-toethreads", "site").stdout == "1\t70 s\thttp://a/\n"


def test_scripts_that_fail_or_answer_otherwise_are_a_sentence(fake: FakeHeritrix, run: Run) -> None:
    answers(fake, "", "Boom: no")
    assert (run("surt-scope").exit_code, "Boom: no" in run("surt-scope").stderr) == (1, True)
    for wrong in ("nonsense", "[1]"):
        answers(fake, wrong)
        assert run("surt-scope").exit_code == 3
    fake.states = ["NASCENT"]
    assert "is not at work: it has no frontier" in run("pending-urls", "site").stderr


HOSTILE = ["'", '"', "\\", "${x}", "\\u0027", "'''", "\n", "é\ud800", "'); x('", "$/", "a.example"]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_argument_ends_its_literal(value: str) -> None:
    body = literal(value).removeprefix("new String('").removesuffix("'.decodeHex(), 'UTF-8')")
    assert bytes.fromhex(body).decode() == value.encode(errors="replace").decode()
    assert set(body) <= set("0123456789abcdef")


def test_commands_pass_their_arguments_as_literals(fake: FakeHeritrix, run: Run) -> None:
    value = "'); x('"
    answers(fake, "")
    assert run("pending-urls-from", "-j", "site", "--", value).exit_code == 0
    script = fake.posted[-1]["script"]
    assert f"def urls = {literal(addresses_of(value))}\ndef most = 1000{PENDING_FROM}" in script
    assert run("url-status", "-j", "site", "--", value).exit_code == 0
    assert f"def url = {literal(value)}\ndef most = 100000{URL_STATUS}" in fake.posted[-1]["script"]


def test_numbers_and_lists_are_written_as_such() -> None:
    assert literal([1, 2]) == "[1, 2]"
    assert literal(["a"]) == "[new String('61'.decodeHex(), 'UTF-8')]"
    assert addresses_of("a.example:81") == ["http://a.example:81/", "https://a.example:81/"]
    assert addresses_of("https://a.example/x") == ["https://a.example/x"]


@pytest.mark.parametrize("has_archives", [False, True])
def test_a_job_is_removed_with_its_files_where_they_are_its_own(
    fake: FakeHeritrix, run: Run, tmp_path: Path, *, has_archives: bool
) -> None:
    jobs, there = tmp_path / "jobs", "/srv/jobs/site/crawler-beans.cxml"
    (jobs / "site" / "2026" / "warcs").mkdir(parents=True)
    (jobs / "site" / "latest").symlink_to("2026")
    (jobs / "site" / "crawler-beans.cxml").write_text("<beans/>")
    fake.files["crawler-beans.cxml"] = b"<beans>another</beans>"
    fake.answer = lambda method, path, _: (
        ((200, job_xml("", primaryConfig=there)) if (jobs / "site").exists() else (404, b""))
        if path == "/engine/job/site" and method == "GET" else None
    )  # fmt: skip
    assert f"it has {there}: give its directory of jobs by --jobs" in run("remove", "site").stderr
    refused = run("remove", "site", "--jobs", str(jobs))
    assert "is not the job site: on the machine of Heritrix it is /srv/jobs/site" in refused.stderr
    assert "is not the job site" in run("remove", "site", "--jobs", str(tmp_path)).stderr
    fake.files["crawler-beans.cxml"] = b"<beans/>"
    if has_archives:
        (jobs / "site" / "2026" / "warcs" / "a.warc.gz.open").write_bytes(b"")
        kept = run("remove", "site", "--jobs", str(jobs))
        assert "has 1 WARC files; package them, or give --with-archives" in kept.stderr
    more = ["--with-archives"] if has_archives else []
    assert run("remove", "site", "--jobs", str(jobs), *more).output == "site is removed\n"
    assert list(jobs.iterdir()) == []
    assert fake.posted[-1] == {"action": "rescan"}


def test_a_job_that_is_built_is_not_removed(fake: FakeHeritrix, run: Run, tmp_path: Path) -> None:
    fake.states = ["FINISHED"]
    refused = run("remove", "site", "--jobs", str(tmp_path))
    assert "is FINISHED; tear it down first" in refused.stderr

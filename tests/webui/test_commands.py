"""The commands `silo serve` and `silo demo`."""

import functools
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from click.testing import CliRunner
from examples import family
from ports import free_port

from oaipmhprovider.server import SampleServer
from oaipmhscraper.progress import display
from politeweb.listening import CannotListen, PortTaken
from recordsilo import Silo
from recordsilo.cli import _run
from recordsilo.extras import PackageMissing
from webui import cli, demo, serving
from webui.app import create_app
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.server import PageServer
from webui.site import Site

PYTHON = [sys.executable, "-c", "from recordsilo.cli import main; main()"]


@pytest.fixture
def run() -> Iterator[Callable[..., Any]]:
    """Start `silo` with arguments; what still runs after the test is ended."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*PYTHON, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def silo_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `silo` in this process; its exit code, its output and its errors."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        return (int(_run()), *capsys.readouterr())

    return call


def url_of(process: subprocess.Popen[str]) -> str:
    """The address that the command says it serves at."""
    assert process.stdout
    for line in process.stdout:
        if match := re.search(r"is at http://([^/]+)/ \(stop with Ctrl-C\)", line):
            return match[1]
    raise AssertionError(process.stderr.read() if process.stderr else "")


def status(address: str, path: str) -> int:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("number", family([signal.SIGINT, signal.SIGTERM], 1))
@pytest.mark.long
def test_serve_shows_the_silo_until_it_is_asked_to_stop(
    run: Callable[..., Any], harvested: str, number: int
) -> None:
    process = run("serve", harvested, "--port", "0")
    address = url_of(process)
    assert status(address, "/records/oai+example,org+1") == 200
    assert status(address.replace("127.0.0.1", "localhost"), "/search") == 200
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    output, errors = process.communicate()
    assert output.endswith("Stopped.\n")
    assert errors == ""


def test_a_taken_port_that_was_asked_for_is_a_sentence(
    silo_here: Callable[..., tuple[int, str, str]], harvested: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"port {port} of 127.0.0.1 is taken by another program; name another --port"
        assert silo_here("serve", harvested, "--port", str(port)) == (2, "", f"silo: {said}\n")


def test_without_a_port_another_free_one_is_taken_and_said(
    silo: Silo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        usual = taken.getsockname()[1]
        monkeypatch.setattr(serving, "DEFAULT_PORT", usual)
        with serving._start(create_app(silo), "127.0.0.1", None) as server:
            assert status(f"127.0.0.1:{server.port}", "/search") == 200
    said = f"Port {usual} is taken by another program; {server.port} is free.\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_serve_makes_an_empty_silo_where_nothing_is(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(serving, "serve_silo", lambda silo, *_: None)
    result = CliRunner().invoke(cli.serve, [f"{tmp_path}/{name}"])
    assert result.exit_code == 0
    assert f"there was no Silo in {tmp_path}/{name}; made an empty one" in result.output
    assert len(Silo(f"{tmp_path}/{name}", create=False)) == 0


def test_serve_makes_no_silo_of_a_mistyped_name(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "serve_silo", lambda silo, *_: None)
    Silo(f"{tmp_path}/myrepo").close()
    result = CliRunner().invoke(cli.serve, [f"{tmp_path}/myrpeo"])
    assert result.exit_code == 2
    assert "did you mean 'myrepo'? To make an empty one: silo init" in result.output
    assert os.listdir(tmp_path) == ["myrepo"]
    (tmp_path / "myrepos").mkdir()
    for name in ("myrepos", "other"):  # a directory that somebody made, and another name
        assert CliRunner().invoke(cli.serve, [f"{tmp_path}/{name}"]).exit_code == 0


@pytest.mark.parametrize(("typed", "code"), [("n", 1), ("y", 0)])
def test_serve_asks_in_a_terminal_before_it_makes_a_silo_beside_others(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    monkeypatch.setattr(serving, "serve_silo", lambda silo, *_: None)
    monkeypatch.setattr(serving, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    assert CliRunner().invoke(cli.serve, [f"{tmp_path}/first"]).exit_code == 0
    result = CliRunner().invoke(cli.serve, [f"{tmp_path}/quite-another"], input=typed)
    assert result.exit_code == code
    assert "Make an empty one?" in result.output
    assert (tmp_path / "quite-another").exists() is (code == 0)


def test_serve_makes_no_silo_among_other_files(tmp_path: Any) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one.pdf").touch()
    for name in ("papers", "no/parent", "papers/one.pdf"):
        result = CliRunner().invoke(cli.serve, [f"{tmp_path}/{name}"])
        assert result.exit_code == 2
        assert result.output.startswith("Error: " if result.output.startswith("E") else "silo: ")
    assert [one.name for one in (tmp_path / "papers").iterdir()] == ["one.pdf"]


def test_listening_beyond_loopback_has_to_be_meant(harvested: str) -> None:
    result = CliRunner().invoke(cli.serve, [harvested, "--host", "0.0.0.0", "--port", "0"])
    assert result.exit_code == 2
    assert "can be reached from other machines" in result.output
    assert "--allow-remote" in result.output


@pytest.mark.long
def test_beyond_loopback_people_sign_in_and_are_warned(run: Callable[..., Any], silo: Silo) -> None:
    add_account(silo.path, "ada", Role.VIEWER, None)
    process = run("serve", silo.path, "--host", "0.0.0.0", "--port", "0", "--allow-remote")
    address = url_of(process).replace("0.0.0.0", "127.0.0.1")
    assert status(address, "/records.json") == 401
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert "passwords go to 0.0.0.0 as they are typed" in process.communicate()[1]


@pytest.mark.parametrize("name", ["other", "no/parent"])
def test_what_is_no_silo_is_a_sentence_and_nothing_is_made(
    silo_here: Callable[..., tuple[int, str, str]], tmp_path: Any, name: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    before = sorted(os.listdir(tmp_path))
    code, _output, errors = silo_here("serve", str(tmp_path / name))
    assert code == 2
    assert errors.count("\n") == 1
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == before


def test_an_address_that_is_not_this_machines_is_a_sentence() -> None:
    with pytest.raises(CannotListen, match="cannot listen on"):
        PageServer(lambda _environ, _start: [], "192.0.2.1", 0)


def test_a_port_is_taken_once() -> None:
    with PageServer(lambda _environ, _start: []) as server, pytest.raises(PortTaken):
        PageServer(lambda _environ, _start: [], port=server.port)


def test_stopping_finishes_the_request_that_is_being_answered() -> None:
    reached = threading.Event()

    def slow(_environ: object, start_response: Callable[..., Any]) -> Iterable[bytes]:
        reached.set()
        time.sleep(0.5)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]

    answers: list[bytes] = []

    def ask(port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/")
        answers.append(connection.getresponse().read())
        connection.close()

    with PageServer(slow) as server:
        asking = threading.Thread(target=ask, args=(server.port,))
        asking.start()
        assert reached.wait(60)
    asking.join(60)
    assert answers == [b"done"]


# -- the demo ----------------------------------------------------------------------------------


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> int:
    """The sample repository with 40 records; its size is 3,200 elsewhere."""
    monkeypatch.setattr(demo, "SampleServer", functools.partial(SampleServer, size=40))
    return 40


def run_demo(directory: str) -> Any:
    return CliRunner().invoke(cli.demo, ["--no-serve", directory])


def test_the_demo_harvests_every_live_record_and_prints_a_receipt(
    tmp_path: Any, small_sample: int
) -> None:
    directory = str(tmp_path / "myrepo")
    result = run_demo(directory)
    assert result.exit_code == 0, result.output
    for word in ("listed", "new", "updated", "unchanged", "deleted", "stored", "Whole"):
        assert word in result.output
    assert re.search(r"listed in [\d.]+ s", result.output)
    with Silo(directory, create=False) as silo:
        assert len(silo) == small_sample
        live = [
            record for record in silo.iteritems() if "deleted_at_version" not in record.metadata
        ]
        assert live
        assert all("oai_dc" in record.files for record in live)
        site = Site.of(silo)
        assert site.name == "Wexcombe Research Repository"
        assert any(site.set_name(spec) != spec for spec in silo.set_counts())


def test_the_demo_of_usage_looks_for_its_packages_before_it_harvests(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "counter_robots", None)
    directory = tmp_path / "myrepo"
    result = CliRunner().invoke(cli.demo, ["--no-serve", "--usage", str(directory)])
    assert isinstance(result.exception, PackageMissing)
    assert result.output == ""
    assert not directory.exists()


@pytest.mark.parametrize("module", ["duckdb", "rapidfuzz"])
def test_the_demo_of_crawls_looks_for_its_packages_before_it_harvests(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    directory = tmp_path / "myrepo"
    result = CliRunner().invoke(cli.demo, ["--no-serve", "--crawl", str(directory)])
    assert isinstance(result.exception, PackageMissing)
    assert result.output == ""
    assert not directory.exists()


def test_the_demo_with_pages_keeps_its_port_and_leaves_the_other_demo_alone(
    tmp_path: Any, small_sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert small_sample
    monkeypatch.setattr(demo, "SAMPLE_PORT", free_port())
    plain = str(tmp_path / "plain")
    run_demo(plain)
    with demo.sample_repository(plain, with_pages=True) as sample, display(sys.stderr) as progress:
        with pytest.raises(demo.NotTheDemo, match="not from the sample repository with pages"):
            demo.harvest_sample(plain, sample, progress)
        assert sample.port == demo.SAMPLE_PORT
    with (
        socket.create_server(("127.0.0.1", demo.SAMPLE_PORT)),
        pytest.raises(demo.LinksElsewhere, match=f"lead to port {demo.SAMPLE_PORT}"),
        demo.sample_repository(plain, with_pages=True),
    ):
        pass


def test_a_second_demo_changes_nothing_also_at_another_port(
    tmp_path: Any, small_sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = str(tmp_path / "myrepo")
    run_demo(directory)
    with Silo(directory, create=False) as silo:
        before = {record.item_id: record.revision for record in silo.iteritems()}
        first_url = silo.state["base_oai_url"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(demo, "SAMPLE_PORT", taken.getsockname()[1])
        result = run_demo(directory)
    assert result.exit_code == 0, result.output
    assert "Nothing changed" in result.output
    with Silo(directory, create=False) as silo:
        assert {record.item_id: record.revision for record in silo.iteritems()} == before
        assert silo.state["base_oai_url"] != first_url
    assert len(before) == small_sample


def test_the_demo_leaves_a_silo_of_another_repository_alone(
    tmp_path: Any, small_sample: int, harvested: str
) -> None:
    assert small_sample
    elsewhere = str(tmp_path / "elsewhere")
    run_demo(elsewhere)
    state = tmp_path / "elsewhere" / "oaipmh_harvester.json"
    state.write_text(state.read_text().replace("Wexcombe Research Repository", "Real Archive"))
    result = run_demo(elsewhere)
    assert result.exit_code == 2
    assert "not from the sample repository" in result.output
    assert len(result.output.strip().splitlines()) == 2
    never_harvested = run_demo(harvested)
    assert never_harvested.exit_code == 2


@pytest.mark.long
def test_the_demo_serves_the_page_afterwards(tmp_path: Any) -> None:
    small = (
        "import functools; from webui import demo; from oaipmhprovider.server import SampleServer;"
        "demo.SampleServer = functools.partial(SampleServer, size=40);"
        "from recordsilo.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", small, "demo", "--port", "0", str(tmp_path / "myrepo")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert status(url_of(process), "/search") == 200
        with Silo(tmp_path / "myrepo", create=False) as silo:
            assert requests.get(silo.state["base_oai_url"], timeout=30).ok
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_password_that_would_be_shown_is_not_asked_for(silo: Silo) -> None:
    done = subprocess.run(
        [*PYTHON, "user", "add", silo.path, "ada"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "GetPassWarning" not in done.stderr
    assert done.stderr.startswith("silo: a password can be typed only in a terminal")
    assert "--password-stdin" in done.stderr

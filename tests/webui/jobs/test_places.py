"""Export places on the page: a password goes to its own address only, and is never shown."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from fedora_server import serving
from fedora_simulator import Simulator
from fedora_values import Answer, Request

from recordsilo import Silo
from siloexport.fedora_places import (
    FedoraPlace,
    PlaceTest,
    add_place,
    added_place,
    change_place,
    fedora_place,
    fedora_places,
    probe,
)
from silowork.errors import JobRefused
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import Job, State

USER, PASSWORD = "fedoraAdmin", "fedoraAdmin"  # the simulator's
SECRET = "a quite secret passphrase"
HTML = "text/html"


@pytest.fixture
def simulator() -> Simulator:
    return Simulator("6.5.1")


@pytest.fixture
def fedora(simulator: Simulator) -> Iterator[str]:
    """The address of a simulated Fedora."""
    with serving(simulator) as root:
        yield root


@pytest.fixture
def sent(simulator: Simulator) -> list[str]:
    """The credentials of each request to the simulated Fedora."""
    seen: list[str] = []

    def note(request: Request) -> None:
        kind, _, coded = request.header("Authorization").partition(" ")
        seen.append(base64.b64decode(coded).decode() if kind == "Basic" else "")

    simulator.interfere = note
    return seen


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials of the worker in its environment, and in a netrc for every host."""
    monkeypatch.setenv("FEDORA_USER", "operator")
    monkeypatch.setenv("FEDORA_PASSWORD", "of-the-operator")
    netrc = tmp_path / "netrc"
    netrc.write_text("default login netrc password of-the-netrc\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))


def exported(silo: Silo, place: str) -> Job:
    asked = read_request("export", {"form": "fedora", "place": place}, silo.path, silo.count())
    job = Jobs.of(silo.path).begin("export", asked.title, asked.arguments, "mona")
    run_job(silo.path, job.job_id)
    return Jobs.of(silo.path).ledger.job(job.job_id)


def secrets_of(silo: Silo) -> list[Path]:
    return sorted(Path(silo.path, "curation", "secrets").glob("*"))


@pytest.mark.long
def test_a_manager_adds_tests_changes_and_removes_a_place(
    client: Any, silo: Silo, fedora: str
) -> None:
    fields = {"name": "eprints", "url": f"{fedora}/eprints/", "user": USER, "password": PASSWORD}
    assert client.post("/places", fields).status == 201
    assert client.post("/places", fields).status == 400
    assert "already" in client.post("/places", fields).error["message"]
    listed = client.json("/places")["places"]
    assert listed == [
        {"name": "eprints", "url": f"{fedora}/eprints", "has_credentials": True, "is_added": True}
    ]
    result = client.post("/places/eprints/test", {}).json["tested"]
    assert (result["name"], result["found"]) == ("eprints", "reached")
    page = client.post("/places/eprints/test", {}, accept=HTML)
    assert page.status == 200
    assert "is-done" in page.text
    assert '<option value="eprints">' in client.get("/jobs/new/export-fedora").text
    assert exported(silo, "eprints").state is State.DONE
    same = {"url": f"{fedora}/eprints"}
    assert client.post("/places/eprints/change", same, accept=HTML).status == 303
    assert len(secrets_of(silo)) == 1
    assert client.post("/places/eprints/change", {**same, "forget": "yes"}).status == 200
    assert secrets_of(silo) == []
    assert client.post("/places/eprints/test", {}).json["tested"]["found"] == "needed"
    assert client.post("/places/eprints/remove", {}).status == 200
    assert client.json("/places")["places"] == []
    assert client.post("/places/eprints/remove", {}).status == 404
    assert client.post("/places/eprints/explode", {}).status == 404
    assert client.post("/places/eprints/test", {}).status == 400


def test_a_place_without_credentials_is_asked_without_any(
    silo: Silo, fedora: str, sent: list[str], others: None
) -> None:
    add_place(silo.path, "open", f"{fedora}/open")
    assert probe(fedora_place(silo.path, "open"), os.environ).found is PlaceTest.NEEDED
    assert exported(silo, "open").state is State.FAILED
    assert len(sent) > 1
    assert set(sent) == {""}


@pytest.mark.long
def test_a_place_with_credentials_is_sent_only_its_own(
    silo: Silo, fedora: str, sent: list[str], others: None
) -> None:
    add_place(silo.path, "own", f"{fedora}/own", USER, PASSWORD)
    assert exported(silo, "own").state is State.DONE
    assert set(sent) == {f"{USER}:{PASSWORD}"}


def test_another_address_never_receives_the_password_of_the_first(
    silo: Silo, fedora: str, sent: list[str], others: None
) -> None:
    add_place(silo.path, "moved", "http://127.0.0.1:1/rest/first", "depositor", SECRET)
    change_place(silo.path, "moved", f"{fedora}/second", forget=False)
    assert secrets_of(silo) == []
    probe(fedora_place(silo.path, "moved"), os.environ)
    add_place(silo.path, "edited", "http://127.0.0.1:1/rest/first", "depositor", SECRET)
    file = Path(silo.path, "curation/places/edited.toml")
    file.write_text(f'url = "{fedora}/second"\n')  # by hand: the password is left behind
    assert fedora_place(silo.path, "edited").credentials is None
    assert exported(silo, "edited").state is State.FAILED
    assert len(sent) > 1
    assert set(sent) == {""}


def test_the_place_of_the_operator_wins_over_one_of_the_same_name(silo: Silo) -> None:
    add_place(silo.path, "a", "http://h/added", "depositor", SECRET)
    Path(silo.path, "curation/fedora.toml").write_text('[a]\nurl = "http://h/own"\n')
    assert fedora_places(silo.path) == {"a": FedoraPlace("a", "http://h/own")}
    Path(silo.path, "curation/fedora.toml").write_text('[b]\nurl = "http://h/own"\n')
    with pytest.raises(JobRefused, match="already"):
        add_place(silo.path, "b", "http://h/added")


def test_a_password_is_private_on_disk_and_in_no_answer(client: Any, silo: Silo) -> None:
    fields = {
        "name": "own",
        "url": "http://127.0.0.1:1/rest",
        "user": "depositor",
        "password": SECRET,
    }
    answers = [client.post("/places", fields), client.post("/places", fields)]
    for action in ("test", "change"):
        answers.append(client.post(f"/places/own/{action}", fields))
        answers.append(client.post(f"/places/own/{action}", fields, accept=HTML))
    answers.append(client.post("/places/own/change", {**fields, "user": "a:b"}))
    assert answers[-1].status == 400
    (file,) = secrets_of(silo)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.read_text() == f"depositor:{SECRET}\n"
    job = exported(silo, "own")
    assert job.state is not State.DONE
    answers += [
        client.get(path, accept=kind)
        for path in ("/places", "/activity", "/jobs", f"/jobs/{job.job_id}", "/jobs/new",
                     "/jobs/new/export-fedora", "/schedules")
        for kind in (HTML, "application/json")
    ]  # fmt: skip
    told = "".join(answer.text + json.dumps(dict(answer.headers)) for answer in answers)
    assert "depositor" not in told
    assert SECRET not in told
    assert SECRET not in repr(added_place(silo.path, "own"))
    kept = [Path(parent) / name for parent, _, names in os.walk(silo.path) for name in names]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == [file]
    client.post("/places/own/remove", {})
    assert secrets_of(silo) == []


def test_credentials_that_others_may_read_are_not_used(client: Any, silo: Silo) -> None:
    add_place(silo.path, "own", "http://127.0.0.1:1/rest", "depositor", SECRET)
    secrets_of(silo)[0].chmod(0o644)
    result = client.post("/places/own/test", {}).json["tested"]
    assert result["found"] == "no credentials"
    assert "Other users may read" in result["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../x"},
        {"name": ""},
        {"url": "ftp://h/rest"},
        {"url": "file:///etc/passwd"},
        {"url": "http://ada:pw@h/rest"},
        {"url": "http:///rest"},
        {"url": "http://h:99999/rest"},
        {"url": "http://h\\@g/rest"},
        {"url": "http://h/rest?x=1"},
        {"url": "http://h/re\nst"},
        {"user": "depositor"},
        {"password": "only"},
        {"user": "a:b", "password": "x"},
        {"user": "depositor", "password": "two\nlines"},
    ],
)
def test_what_cannot_be_a_place_is_refused(client: Any, silo: Silo, change: dict[str, str]) -> None:
    fields = {"name": "eprints", "url": "http://h/rest"} | change
    assert client.post("/places", fields).status == 400
    assert fedora_places(silo.path) == {}
    assert secrets_of(silo) == []


@pytest.mark.parametrize(
    ("login", "answer", "found"),
    [
        ((USER, "wrong"), None, PlaceTest.REFUSED),
        (("", ""), Answer(200, {"Content-Type": "text/html"}, b"<p>Sign in"), PlaceTest.NO_FEDORA),
        (("", ""), Answer(302, {"Location": "http://h/"}), PlaceTest.NO_FEDORA),
        (("", ""), Answer(503), PlaceTest.NO_ANSWER),
    ],
)
def test_a_test_says_what_is_there(
    silo: Silo,
    simulator: Simulator,
    fedora: str,
    login: tuple[str, str],
    answer: Any,
    found: PlaceTest,
) -> None:
    simulator.interfere = lambda _request: answer
    add_place(silo.path, "a", f"{fedora}/x", *login)
    assert probe(fedora_place(silo.path, "a"), {}).found is found


def test_a_test_does_not_wait_for_a_server_that_hangs(
    silo: Silo, simulator: Simulator, fedora: str
) -> None:
    may_answer, answered = Event(), Event()

    def hang(_request: object) -> None:
        may_answer.wait(60)
        answered.set()

    simulator.interfere = hang
    add_place(silo.path, "slow", f"{fedora}/x")
    try:
        assert probe(fedora_place(silo.path, "slow"), {}, 0.2).found is PlaceTest.NO_ANSWER
        assert not answered.is_set()
    finally:
        may_answer.set()


def test_the_places_of_the_operator_are_shown_but_not_changed(client: Any, silo: Silo) -> None:
    os.makedirs(silo.path + "/curation", exist_ok=True)
    Path(silo.path, "curation/fedora.toml").write_text('[a]\nurl = "http://127.0.0.1:1/rest"\n')
    page = client.get("/places").text
    assert 'action="/places/a/test"' in page
    assert 'action="/places/a/change"' not in page
    for action in ("change", "remove"):
        assert client.post(f"/places/a/{action}", {"url": "http://h/rest"}).status == 404
    assert client.post("/places/a/test", {}).json["tested"]["found"] == "no answer"
    Path(silo.path, "curation/fedora.toml").write_text("[a")
    assert "curation/fedora.toml cannot be read" in client.json("/places")["problems"][0]


def test_a_place_whose_file_is_broken_can_be_removed(client: Any, silo: Silo) -> None:
    add_place(silo.path, "a", "http://h/rest")
    Path(silo.path, "curation/places/a.toml").write_text("url = ")
    assert "is invalid" in client.json("/places")["problems"][0]
    assert 'action="/places/a/remove"' in client.get("/places").text
    assert client.post("/places/a/remove", {}).status == 200
    assert fedora_places(silo.path) == {}

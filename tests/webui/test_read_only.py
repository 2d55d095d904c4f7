"""A Silo whose disk becomes read-only while it is shown: it is read on, by people who sign in."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recordsilo import Silo
from webui.app import create_app
from webui.people import accounts
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.people.sessions import Sessions
from webui.site import SiteSettings

PASSWORD = "correct horse battery"
PAGES = ("/", "/search?q=example", "/jobs", "/harvests", "/people", "/selection", "/usage", "/oai")


@pytest.fixture
def lock_disk(silo: Silo) -> Iterator[Callable[[], None]]:
    """Makes the Silo's directory read-only until the end of the test."""
    mounted = []

    def mount() -> None:
        if subprocess.run(["mount", "--bind", silo.path, silo.path], check=False).returncode:
            pytest.skip("nothing can be mounted here")
        mounted.append(silo.path)
        subprocess.run(["mount", "-o", "remount,ro,bind", silo.path], check=True)

    yield mount
    for path in mounted:
        subprocess.run(["umount", "--lazy", path], check=False)


@pytest.fixture
def shown(silo: Silo, stage: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A page to which people sign in."""
    quick = accounts.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_HASHER", quick)
    add_account(silo.path, "vera", Role.VIEWER, PASSWORD)
    stage.app = create_app(silo, SiteSettings(sign_in=True, oai=True))
    return client


def signed_in(client: Any) -> dict[str, str]:
    answer = client.post("/sign-in", {"name": "vera", "password": PASSWORD})
    assert answer.status == 200, answer.text
    return {"Cookie": str(answer.headers["Set-Cookie"].partition(";")[0])}


def test_people_who_signed_in_read_on_and_others_sign_in(
    shown: Any, lock_disk: Callable[[], None]
) -> None:
    before = signed_in(shown)
    known = {page: shown.get(page, headers=before).status for page in PAGES}
    lock_disk()
    during = signed_in(shown)
    for headers in (before, during):
        assert {page: shown.get(page, headers=headers).status for page in PAGES} == known
    refused = shown.post("/sign-in", {"name": "vera", "password": "wrong"})
    assert refused.status == 403
    assert shown.post("/sign-out", {}, headers=during).status == 200
    assert shown.get("/search.json", headers=during).status == 401
    assert shown.get("/search.json", headers=before).status == 200


def test_sessions_are_in_the_file_again_once_it_can_be_written(
    silo: Silo, lock_disk: Callable[[], None]
) -> None:
    sessions = Sessions(silo.path)
    lock_disk()
    secret = sessions.begin("vera", "1")
    assert sessions.find(secret) is not None
    subprocess.run(["umount", "--lazy", silo.path], check=True)
    other = sessions.begin("vera", "1")
    assert sessions.find(secret) is None
    assert Sessions(silo.path).find(other) is not None

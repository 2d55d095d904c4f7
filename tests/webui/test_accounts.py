"""Accounts on the page: what a manager may do, and what is forbidden to all."""

from typing import Any

import pytest

from recordsilo import Silo
from webui.people.accounts import (
    LastManager,
    account_names,
    add_account,
    load_account,
    remove_account,
    set_role,
    signed_in,
)
from webui.people.roles import Role

PASSWORD = "correct horse battery"
HTML = "text/html"


def test_a_manager_adds_changes_and_removes_accounts(client: Any, silo: Silo) -> None:
    fields = {"name": "Ada", "role": "curator", "password": PASSWORD}
    assert client.post("/accounts", fields).status == 201
    assert client.post("/accounts", fields).status == 400
    assert load_account(silo.path, "ada").role is Role.CURATOR
    assert signed_in(silo.path, "ada", PASSWORD)
    page = client.get("/accounts").text
    assert '<h2 id="a-ada">ada</h2>' in page
    stored = load_account(silo.path, "ada")
    told = page + str(client.json("/accounts"))
    assert stored.password_hash not in told
    assert stored.stamp not in told
    assert client.post("/accounts/ada/role", {"role": "viewer"}).status == 200
    assert load_account(silo.path, "ada").role is Role.VIEWER
    assert client.post("/accounts/ada/password", {"password": "short"}).status == 400
    other = "another horse battery"
    assert client.post("/accounts/ada/password", {"password": other}, accept=HTML).status == 303
    assert signed_in(silo.path, "ada", other)
    assert client.post("/accounts/ada/remove", {}).status == 200
    assert account_names(silo.path) == []
    assert client.post("/accounts/ada/remove", {}).status == 404
    assert client.post("/accounts/ada/explode", {}).status == 404


def test_an_account_without_a_password_is_said_to_be_one(client: Any) -> None:
    fields = {"name": "ada", "role": "viewer", "password": ""}
    answer = client.post("/accounts", fields, accept=HTML)
    assert answer.headers["Location"] == "/accounts?done=add-without"
    page = client.get(answer.headers["Location"]).text
    assert "Account added without a password: only a proxy can sign this person in." in page
    assert client.post("/accounts/ada/add-without", {}).status == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "../x", "role": "viewer", "password": PASSWORD},
        {"name": "ada", "role": "king", "password": PASSWORD},
        {"name": "ada", "role": "viewer", "password": "short"},
    ],
)
def test_what_cannot_be_an_account_is_refused(
    client: Any, silo: Silo, fields: dict[str, str]
) -> None:
    assert client.post("/accounts", fields).status == 400
    assert account_names(silo.path) == []


def test_nobody_removes_or_demotes_the_last_manager(client: Any, silo: Silo) -> None:
    add_account(silo.path, "mona", Role.MANAGER, None)
    add_account(silo.path, "vera", Role.VIEWER, None)
    answer = client.post("/accounts/mona/remove", {})
    assert (answer.status, "last manager" in answer.error["message"]) == (409, True)
    assert client.post("/accounts/mona/role", {"role": "curator"}).status == 409
    with pytest.raises(LastManager):
        set_role(silo.path, "mona", Role.VIEWER, keep_manager=True)
    add_account(silo.path, "max", Role.MANAGER, None)
    assert client.post("/accounts/mona/role", {"role": "curator"}).status == 200
    with pytest.raises(LastManager):
        remove_account(silo.path, "max", keep_manager=True)
    assert remove_account(silo.path, "max") == "max"  # the command may: it can add another


def test_nobody_changes_their_own_account_here(client: Any, silo: Silo) -> None:
    add_account(silo.path, "a.curator", Role.MANAGER, None)
    add_account(silo.path, "mona", Role.MANAGER, None)
    for action, fields in (("remove", {}), ("role", {"role": "viewer"})):
        assert client.post(f"/accounts/a.curator/{action}", fields).status == 409
    assert 'action="/accounts/a.curator/' not in client.get("/accounts").text

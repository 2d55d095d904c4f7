"""Management of accounts: who may sign in, and in which role."""

from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, ChangeConflict, NotFound, as_sentence, told_as
from webui.http.messages import Response
from webui.people.accounts import (
    AccountNotFound,
    AccountRefused,
    LastManager,
    account_names,
    add_account,
    load_account,
    remove_account,
    role_of,
    set_password,
    set_role,
)
from webui.people.roles import ROLES
from webui.rendering import View, changed_answer
from webui.site import AnyCall
from webui.words.texts import text as _

DONE = {
    "add": "Account added.",
    "add-without": "Account added without a password: only a proxy can sign this person in.",
    "role": "Role changed.",
    "password": "Password changed. Sessions with the old password have ended.",
    "remove": "Account removed. Its changes keep its name.",
}
"""English texts of the catalogue."""
_ACTIONS = ("role", "password", "remove")
_REFUSALS = (
    (AccountNotFound, NotFound),
    (LastManager, ChangeConflict),
    (AccountRefused, BadRequest),
)


def show(call: AnyCall) -> View:
    """List the accounts, by name."""
    path = call.site.gate.path
    lines, faults = [], []
    for name in account_names(path):
        try:
            lines.append(load_account(path, name))
        except AccountRefused as error:
            faults.append(as_sentence(str(error)))
    twin = {
        "accounts": [one.as_json() for one in lines],
        "problems": faults,
    }
    data = {
        "lines": lines,
        "faults": faults,
        "roles": [(label, _(label)) for label in ROLES],
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "sign_in": call.site.settings.needs_sign_in,
    }
    return View("accounts.mako", data, twin, urls.accounts())


def create(call: AnyCall) -> Response:
    """Add an account: ``name``, ``role``, and ``password``; without one, only sign-in by a proxy.

    Raises:
        BadRequest: The name is taken or invalid, or the password too weak.
    """
    with told_as(*_REFUSALS):
        role, password = role_of(call.field("role", "viewer")), _password(call)
        made = add_account(call.site.gate.path, call.field("name"), role, password or None)
    note(call, "add account", ("account", None, made.name), ("role", None, made.role.label))
    return _led(call, "add" if made.password_hash else "add-without", made.name, 201)


def act(call: AnyCall) -> Response:
    """Change an account: its ``role``, its ``password``, or ``remove`` it.

    Raises:
        NotFound: There is no such account or action.
        ChangeConflict: It is the user's own, or the last manager's.
    """
    path, name, action = call.site.gate.path, call.params["name"], call.params["action"]
    if action not in _ACTIONS:
        raise NotFound("There is no page at this address.")
    with told_as(*_REFUSALS):
        account = load_account(path, name)
        if account.name == call.user.name:
            raise ChangeConflict("You cannot change your own account here; ask another manager.")
        if action == "role":
            role = role_of(call.field("role"))
            set_role(path, account.name, role, keep_manager=True)
            note(call, "change role", (account.name, account.role.label, role.label))
        elif action == "password":
            set_password(path, account.name, _password(call))
            note(call, "change password", ("account", None, account.name))
        else:
            remove_account(path, account.name, keep_manager=True)
            note(call, "remove account", ("account", account.name, None))
    return _led(call, action, account.name, 200)


def _password(call: AnyCall) -> str:
    """The password as sent: spaces are part of it."""
    return call.form.fields.get("password", "")


def _led(call: AnyCall, done: str, name: str, status: int) -> Response:
    return changed_answer(call, urls.accounts(done=done), {"name": name, "done": done}, status)

"""Signing in, signing out, and one's own account."""

from typing import Any

from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, as_sentence
from webui.http.messages import Response, redirect
from webui.people.accounts import AccountRefused, load_account, set_password, signed_in
from webui.people.authentication import SignInFailed, own_path
from webui.people.roles import User
from webui.rendering import View, json_answer
from webui.site import Call
from webui.words.texts import text as _

STRANGER = "(nobody)"
"""In the activity log, who did not sign in; no account can have the name."""


def ask_sign_in(call: Call) -> View | Response:
    """The form; whoever is signed in goes on."""
    then = own_path(call.request.query.get("next", "/"))
    if call.user.name and not call.wants_json:
        return redirect(then)
    return _form(call, then)


def _form(call: Call, then: str, error: SignInFailed | None = None) -> View:
    data = {"then": then, "name": call.field("name"), "fault": error.message if error else ""}
    return View("sign_in.mako", data, _user_json(call.user), urls.sign_in(), 403 if error else 200)


def sign_in(call: Call) -> View | Response:
    """Begin a session (fields ``name`` and ``password``), and go on to ``next``."""
    then = own_path(call.field("next", "/"))
    try:
        user, cookie = call.site.gate.begin(
            call.request, call.field("name"), _raw(call, "password")
        )
    except SignInFailed as error:
        _note_failure(call, call.field("name"))
        if call.wants_json:
            raise
        return _form(call, then, error)
    note(call, "sign in", agent=user.name, message=_from(call))
    if call.wants_json:
        return json_answer(_user_json(user), 200, {"Set-Cookie": cookie})
    return _going(then, cookie)


def sign_out(call: Call) -> Response:
    """End the session."""
    cookie = call.site.gate.end(call.request)
    if call.user.session:
        note(call, "sign out", message=_from(call))
    if call.wants_json:
        return json_answer({"user": None, "role": None}, 200, {"Set-Cookie": cookie})
    return _going(urls.sign_in(), cookie)


def _going(then: str, cookie: str) -> Response:
    headers = {"Location": then, "Set-Cookie": cookie, "Cache-Control": "no-store"}
    return Response(303, headers=headers)


def account(call: Call) -> View:
    """Who one is here, and a form for another password."""
    done = "changed" if call.request.query.get("done") == "password" else ""
    data = {"done": done}
    return View("account.mako", data, _user_json(call.user), urls.account())


def change_password(call: Call) -> Response:
    """Another password (fields ``password`` and ``new``); every other session ends.

    Raises:
        BadRequest: Nobody signed in with a password, or the new one is too weak.
        SignInFailed: The present one is wrong.
    """
    gate, name = call.site.gate, call.user.name
    if not call.user.session:
        raise BadRequest(_("You did not sign in with a password here."))
    gate.attempts.note(name, call.request.remote_addr)
    if signed_in(gate.silo_path, name, _raw(call, "password")) is None:
        _note_failure(call, name)
        raise SignInFailed(_("Wrong password; nothing was changed."))
    gate.attempts.forget(name, call.request.remote_addr)
    try:
        set_password(gate.silo_path, name, _raw(call, "new"))
    except AccountRefused as error:
        raise BadRequest(as_sentence(str(error))) from None
    note(call, "change password", message=_from(call))
    user, cookie = gate.begin(call.request, name, _raw(call, "new"))
    if call.wants_json:
        return json_answer(_user_json(user), 200, {"Set-Cookie": cookie})
    return _going(f"{urls.account()}?done=password", cookie)


def _note_failure(call: Call, name: str) -> None:
    """Log a wrong password, or a wrong name: that one is not told, it may be a password.

    Who did it is whose session the request came with, if any. How many lines there can
    be is limited with the tries.
    """
    try:
        known = load_account(call.site.gate.silo_path, name).name
    except AccountRefused:
        known = None
    agent = call.user.name or STRANGER
    note(call, "sign-in failed", ("account", None, known), agent=agent, message=_from(call))


def _from(call: Call) -> str:
    return f"from {call.request.remote_addr}"


def _user_json(user: User) -> dict[str, Any]:
    return {"user": user.name or None, "role": user.role.label if user.name else None}


def _raw(call: Call, name: str) -> str:
    """A field as it was sent: blanks belong to a password."""
    return call.form.fields.get(name, "")

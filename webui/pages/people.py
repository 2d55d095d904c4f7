"""Signing in, signing out, and the user's own account."""

import logging
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from recordsilo.disk.full_disk import not_writable
from silocuration.activity import ValueChange
from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, as_sentence
from webui.http.languages import choice_header
from webui.http.messages import Response, redirect
from webui.people.accounts import (
    AccountRefused,
    known_name,
    set_language,
    set_password,
    signed_in,
)
from webui.people.authentication import SignInFailed, own_path
from webui.people.roles import NOBODY, User
from webui.rendering import View, json_answer
from webui.site import AnyCall
from webui.words.locales import LOCALES
from webui.words.texts import text as _

logger = logging.getLogger("webui")
_STRANGER = "(nobody)"
"""The name of unknown users in the activity log; no account can have it."""


def ask_sign_in(call: AnyCall) -> View | Response:
    """Show the form; users who are signed in are redirected."""
    then = own_path(call.request.query.get("next", "/"))
    if call.user.name and not call.wants_json:
        return redirect(then)
    return _form(call, then)


def _form(call: AnyCall, then: str, error: SignInFailed | None = None) -> View:
    data = {"then": then, "name": call.field("name"), "fault": error.message if error else ""}
    return View("sign_in.mako", data, _user_json(call.user), urls.sign_in(), 403 if error else 200)


def sign_in(call: AnyCall) -> View | Response:
    """Start a session (fields ``name`` and ``password``), and redirect to ``next``."""
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
    _note(call, "sign in", agent=user.name)
    if call.wants_json:
        return json_answer(_user_json(user), 200, {"Set-Cookie": cookie})
    return _going_on(then, cookie)


def sign_out(call: AnyCall) -> Response:
    """End the session."""
    cookie = call.site.gate.end(call.request)
    if call.user.session:
        _note(call, "sign out")
    if call.wants_json:
        return json_answer(_user_json(NOBODY), 200, {"Set-Cookie": cookie})
    return _going_on(urls.sign_in(), cookie)


def _going_on(then: str, cookie: str) -> Response:
    """Redirect after signing in or out, and set the cookie."""
    headers = {"Location": then, "Set-Cookie": cookie, "Cache-Control": "no-store"}
    return Response(303, headers=headers)


def choose_language(call: AnyCall) -> Response:
    """Keep the language of the page (field ``language``); an empty one ends the choice.

    It is kept in a cookie, and with the account of who is signed in.

    The browser goes back to the page from which the form was sent.

    Raises:
        BadRequest: The page does not speak it.
    """
    wanted = call.field("language")
    if wanted and wanted not in LOCALES:
        raise BadRequest("Choose one of these languages: {names}.", names=", ".join(LOCALES))
    if call.user.has_account:
        set_language(call.site.gate.path, call.user.name, wanted)
    path = urls.above_shelf() if call.site.settings.on_shelf else urls.at("/")
    headers = {"Set-Cookie": choice_header(wanted, path)}
    if call.wants_json:
        return json_answer({"language": wanted or None}, 200, headers)
    came = urlsplit(call.request.headers.get("referer", ""))
    then = own_path(urlunsplit(("", "", came.path, came.query, "")))
    return Response(303, headers=headers | {"Location": then, "Cache-Control": "no-store"})


def account(call: AnyCall) -> View:
    """Show the user's account, and a form for a new password."""
    done = "changed" if call.request.query.get("done") == "password" else ""
    data = {"done": done}
    return View("account.mako", data, _user_json(call.user), urls.account())


def change_password(call: AnyCall) -> Response:
    """Change the password (fields ``password`` and ``new``); all other sessions end.

    Raises:
        BadRequest: The user did not sign in with a password, or the new one is too weak.
        SignInFailed: The present password is wrong.
    """
    gate, name = call.site.gate, call.user.name
    if not call.user.session:
        raise BadRequest(_("You did not sign in with a password here."))
    gate.attempts.note(name, call.request.remote_addr)
    if signed_in(gate.path, name, _raw(call, "password")) is None:
        _note_failure(call, name)
        raise SignInFailed(_("Wrong password; nothing was changed."))
    gate.attempts.forget(name, call.request.remote_addr)
    try:
        set_password(gate.path, name, _raw(call, "new"))
    except AccountRefused as error:
        raise BadRequest(as_sentence(str(error))) from None
    note(call, "change password", message=_from(call))
    user, cookie = gate.begin(call.request, name, _raw(call, "new"))
    if call.wants_json:
        return json_answer(_user_json(user), 200, {"Set-Cookie": cookie})
    return _going_on(f"{urls.account()}?done=password", cookie)


def _note_failure(call: AnyCall, name: str) -> None:
    """Log a failed sign-in; an unknown name is not logged, because it may be a password.

    The agent is the user of the request's session, if any. The number of lines is limited by
    the number of attempts.
    """
    known, agent = known_name(call.site.gate.path, name), call.user.name or _STRANGER
    _note(call, "sign-in failed", ("account", None, known), agent=agent)


def _note(call: AnyCall, action: str, *values: ValueChange, agent: str = "") -> None:
    """Log an action; where the Silo cannot be written, people sign in all the same."""
    try:
        note(call, action, *values, agent=agent, message=_from(call))
    except OSError as error:
        if not_writable(call.site.path, error) is None:
            raise
        logger.warning("%s of %s is not in the activity log: %s", action, agent, error)


def _from(call: AnyCall) -> str:
    return f"from {call.request.remote_addr}"


def _user_json(user: User) -> dict[str, Any]:
    """Return who is signed in, as JSON values."""
    return {"user": user.name or None, "role": user.role.label if user.name else None}


def _raw(call: AnyCall, name: str) -> str:
    """A field as it was sent: spaces are part of a password."""
    return call.form.fields.get(name, "")

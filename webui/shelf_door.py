"""Signing in to a directory of Silos at its own address; the session holds for all of them."""

from collections.abc import Mapping

from silocuration.activity import ValueChange, changes_of, log_activity
from webui import urls
from webui.http.bodies import read_form
from webui.http.errors import MethodNotAllowed
from webui.http.messages import Request, Response, redirect
from webui.pages.people import STRANGER, going_on, user_json
from webui.people.accounts import known_name
from webui.people.authentication import Gate, SignInFailed, own_path
from webui.people.roles import NOBODY, Role, User
from webui.rendering import PAGE, html, json_answer

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"


class ShelfDoor:
    """The forms to sign in and out of a directory of Silos.

    Args:
        gate: With the accounts of the directory.
        name: Of the directory.
    """

    def __init__(self, gate: Gate, name: str) -> None:
        self._gate, self._name = gate, name

    def answer(self, request: Request, *, as_json: bool) -> Response:
        """Answer a request to `SIGN_IN` or `SIGN_OUT`.

        Raises:
            MethodNotAllowed: The request signs out, but is no POST.
            SignInFailed, TooManyAttempts, Busy: See `Gate.begin`.
        """
        user = self._gate.user_of(request, Role.ANYONE)
        if request.raw_path == SIGN_OUT:
            return self._out(request, user, as_json=as_json)
        if not request.is_safe:
            return self._in(request, user, as_json=as_json)
        then = own_path(request.query.get("next", urls.at("/")))
        if as_json:
            return json_answer(user_json(user))
        return redirect(then) if user.name else self._form(then)

    def _in(self, request: Request, user: User, *, as_json: bool) -> Response:
        fields: Mapping[str, str] = read_form(request).fields
        name, then = fields.get("name", "").strip(), own_path(fields.get("next", ""))
        try:
            user, cookie = self._gate.begin(request, name, fields.get("password", ""))
        except SignInFailed as error:
            about = ("account", None, known_name(self._gate.path, name))
            self._note(request, "sign-in failed", user.name or STRANGER, about)
            if as_json:
                raise
            return self._form(then, name, error.message)
        self._note(request, "sign in", user.name)
        if as_json:
            return json_answer(user_json(user), 200, {"Set-Cookie": cookie})
        return going_on(then, cookie)

    def _out(self, request: Request, user: User, *, as_json: bool) -> Response:
        if request.is_safe:
            raise MethodNotAllowed(request.method, ("POST",))
        cookie = self._gate.end(request)
        if user.session:
            self._note(request, "sign out", user.name)
        if as_json:
            return json_answer(user_json(NOBODY), 200, {"Set-Cookie": cookie})
        return going_on(urls.sign_in(), cookie)

    def _form(self, then: str, name: str = "", fault: str = "") -> Response:
        told = {"site_name": self._name, "twin_url": "", "page_url": urls.sign_in()}
        page = html("sign_in.mako", **told, user=NOBODY, then=then, name=name, fault=fault)
        return Response(403 if fault else 200, page, PAGE)

    def _note(self, request: Request, action: str, agent: str, *values: ValueChange) -> None:
        """Log an action in the directory, in ``curation/activity``."""
        message = f"from {request.remote_addr}"
        lines = changes_of(
            values, agent=agent, action=action, identifier="", version="", message=message
        )
        log_activity(self._gate.path, lines)

"""Export places, managed by a manager: the Fedoras that an export may name."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from siloexport.fedora_places import (
    FedoraPlace,
    FedoraPlaceNotFound,
    PlaceTest,
    Tested,
    add_place,
    added_names,
    added_place,
    change_place,
    fedora_place,
    operator_places,
    probe,
    remove_place,
)
from silowork.errors import JobRefused
from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, NotFound, as_sentence, told_as
from webui.http.messages import Response
from webui.job_view import JobOutcome
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

DONE = {
    "add": "Export place added. Test the connection before you export.",
    "change": "Export place changed.",
    "remove": "Export place and its credentials removed. What was exported stays there.",
}
"""English texts of the catalogue."""
FOUND = {
    PlaceTest.REACHED: "Reached. The test did not write anything.",
    PlaceTest.NO_CONTAINER: "There is a Fedora, but records cannot be put at this address.",
    PlaceTest.REFUSED: "The server refuses this user or password.",
    PlaceTest.NEEDED: "The server asks for a user and password.",
    PlaceTest.NO_FEDORA: "There is no Fedora 6 or later at this address.",
    PlaceTest.NO_ANSWER: "The server does not answer.",
    PlaceTest.NO_CREDENTIALS: "The credentials cannot be used.",
}
"""The same."""
_REFUSALS = ((FedoraPlaceNotFound, NotFound), (JobRefused, BadRequest))


def show(call: Call) -> View:
    """List the places: the operator's, then those that were added here."""
    return _view(call)


def create(call: Call) -> Response:
    """Add a place: ``name``, ``url``, and ``user`` and ``password`` if it needs them.

    Raises:
        BadRequest: The name is taken or invalid, or the address or the credentials are invalid.
    """
    name = call.field("name")
    with told_as(*_REFUSALS):
        add_place(call.site.silo.path, name, call.field("url"), *_login(call))
        url = added_place(call.site.silo.path, name).url
    note(call, "add export place", (name, None, url))
    return _led(call, "add", name, 201)


def act(call: Call) -> View | Response:
    """Test a place, ``change`` it (``url``, ``user``, ``password``, ``forget``) or ``remove`` it.

    Raises:
        BadRequest: The address or the credentials are invalid.
        NotFound: There is no such action, or no such place that can be changed here.
    """
    name, action = call.params["name"], call.params["action"]
    actions: Mapping[str, Callable[[Call, str], View | Response]] = {
        "test": _test,
        "change": _change,
        "remove": _remove,
    }
    if action not in actions:
        raise NotFound("There is no page at this address.")
    with told_as(*_REFUSALS):
        return actions[action](call, name)


def _test(call: Call, name: str) -> View:
    place = fedora_place(call.site.silo.path, name)
    return _view(call, name, probe(place, os.environ))


def _change(call: Call, name: str) -> Response:
    path = call.site.silo.path
    user, password = _login(call)
    forget = call.field("forget") == "yes"
    change_place(path, name, call.field("url"), user, password, forget=forget)
    note(call, "change export place", (name, None, added_place(path, name).url))
    return _led(call, "change", name, 200)


def _remove(call: Call, name: str) -> Response:
    remove_place(call.site.silo.path, name)
    note(call, "remove export place", ("place", name, None))
    return _led(call, "remove", name, 200)


def _login(call: Call) -> tuple[str, str]:
    """The credentials; spaces are part of a password."""
    return call.field("user"), call.form.fields.get("password", "")


def _view(call: Call, name: str = "", result: Tested | None = None) -> View:
    path, faults = call.site.silo.path, []
    places: dict[str, FedoraPlace] = {}
    broken: list[str] = []
    try:
        places |= operator_places(path)
    except JobRefused as error:
        faults.append(as_sentence(str(error)))
    for one in added_names(path):
        try:
            places.setdefault(one, added_place(path, one))
        except JobRefused as error:
            faults.append(as_sentence(str(error)))
            broken.append(one)
    outcome = _outcome(result) if result else None
    twin: dict[str, Any] = {
        "places": [
            {
                "name": one.name,
                "url": one.url,
                "has_credentials": one.credentials is not None,
                "is_added": one.is_added,
            }
            for one in places.values()
        ],
        "problems": faults,
    }
    if result and outcome:
        found = result.found.value
        twin["tested"] = {"name": name, "found": found, "message": outcome.word}
    data = {
        "places": list(places.values()),
        "broken": broken,
        "faults": faults,
        "tested": name,
        "outcome": outcome,
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
    }
    return View("places.mako", data, twin, urls.places())


def _outcome(result: Tested) -> JobOutcome:
    word = _(FOUND[result.found])
    if result.detail and result.found is PlaceTest.REACHED:
        word = f"{word} {_('Server: {name}', name=result.detail)}"
    elif result.detail:
        word = f"{word} {as_sentence(result.detail)}"
    return JobOutcome("done" if result.found is PlaceTest.REACHED else "failed", word)


def _led(call: Call, done: str, name: str, status: int) -> Response:
    return changed_answer(call, urls.places(done=done), {"name": name, "done": done}, status)

"""Services and lists of reconciliation, managed by a manager: add, test, remove."""

from typing import Any

from silocuration.authorities import FIELDS
from silocuration.errors import CurationError
from silocuration.reconciling.added_places import (
    PlaceDescription,
    PlaceRefused,
    add_place,
    probe,
    remove_place,
)
from silocuration.reconciling.lists import MOST_BYTES
from silocuration.reconciling.places import (
    PlaceNotFound,
    PlacesUnreadable,
    PlaceUnusable,
    read_places,
)
from webui import urls
from webui.activity import note
from webui.http.bodies import human_size
from webui.http.errors import BadRequest, ChangeConflict, NotFound, as_sentence, told_as
from webui.http.messages import Response
from webui.job_view import JobOutcome
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import counted
from webui.words.texts import text as _

PATH = "/reconciliation/places"
DONE = {
    "add": "Added. Test it before you ask for values.",
    "remove": "Removed. What was decided with it stays.",
}
"""English texts of the catalogue."""
_REFUSALS = (
    (PlaceNotFound, NotFound),
    (PlaceRefused, BadRequest),
    (PlacesUnreadable, ChangeConflict),
)


def show(call: Call) -> View:
    """List the services and lists: the administrator's, then those that were added here."""
    return _view(call)


def create(call: Call) -> Response:
    """Add a service (``url``) or a list (``part``) of a ``name``.

    Raises:
        BadRequest: The name is taken or invalid, or the address or the list is invalid.
    """
    name, uploaded = call.field("name"), call.form.files.get("part")
    content = uploaded.content.read(MOST_BYTES + 1) if uploaded else b""
    fields = [one for one in FIELDS if call.field(f"for-{one}")]
    said = {"url": call.field("url"), "title": call.field("title"),
            "type": call.field("type"), "fields": fields}  # fmt: skip
    if not content and not said["url"]:
        raise BadRequest("Give the address of a service, or choose a list.").at("url")
    with told_as(*_REFUSALS):
        place = add_place(call.site.silo.path, name, said, content or None)
    note(call, "add service", (name, None, place.url or place.list))
    return _led(call, "add", name, 201)


def act(call: Call) -> View | Response:
    """Test a service or list (``test``), or ``remove`` it.

    Raises:
        NotFound: There is no such action, or no such place that can be removed here.
    """
    name, action = call.params["name"], call.params["action"]
    if action not in {"test", "remove"}:
        raise NotFound("There is no page at this address.")
    with told_as(*_REFUSALS):
        if action == "test":
            return _view(call, name)
        remove_place(call.site.silo.path, name)
    note(call, "remove service", ("place", name, None))
    return _led(call, "remove", name, 200)


def _view(call: Call, tested: str = "") -> View:
    path = call.site.silo.path
    places, fault, outcome = [], "", None
    try:
        settings = read_places(path)
        places = [*settings.places.values()]
        if tested:
            outcome = _tested(call, tested)
    except PlacesUnreadable as error:
        fault = as_sentence(str(error))
    twin: dict[str, Any] = {
        "places": [
            {"name": one.name, "title": one.title, "url": one.url, "list": one.list,
             "type": one.type, "fields": list(one.fields), "is_added": one.is_added}
            for one in places
        ],
        "problem": fault,
    }  # fmt: skip
    if outcome:
        twin["tested"] = {"name": tested, "found": outcome.name, "message": outcome.word}
    data = {
        "places": [(one, [field_label(field) for field in one.fields]) for one in places],
        "fault": fault,
        "tested": tested,
        "outcome": outcome,
        "fields": [(name, field_label(name)) for name in FIELDS],
        "most": MOST_BYTES,
        "limit": human_size(MOST_BYTES),
        "here": urls.at(PATH),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
    }
    return View("reconciliation_places.mako", data, twin, urls.at(PATH))


def _tested(call: Call, name: str) -> JobOutcome:
    path = call.site.silo.path
    place = read_places(path).place(name)
    try:
        found = probe(place, path)
    except PlaceUnusable as error:
        return JobOutcome("failed", as_sentence(error.reason))
    except CurationError as error:
        return JobOutcome("failed", as_sentence(str(error)))
    return JobOutcome("done", _said(found))


def _said(found: PlaceDescription) -> str:
    if found.entities is not None:
        return counted("The list has {n} name.", "The list has {n} names.", found.entities)
    sentences = [_("The service answers as “{name}”.", name=found.name)]
    if found.types:
        sentences.append(_("Types: {types}.", types=", ".join(found.types)))
    if found.space:
        sentences.append(_("Identifiers: {space}", space=found.space))
    return " ".join(sentences)


def _led(call: Call, done: str, name: str, status: int) -> Response:
    url = urls.with_query(urls.at(PATH), {"done": done})
    return changed_answer(call, url, {"name": name, "done": done}, status)

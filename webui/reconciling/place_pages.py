"""Services and lists of reconciliation, managed by a manager: add, test, change, remove."""

from collections.abc import Mapping
from typing import Any

from silocuration.authorities import FIELDS
from silocuration.errors import CurationError
from silocuration.reconciling.added_places import (
    PlaceDescription,
    PlaceRefused,
    add_place,
    change_place,
    described,
    probe,
    remove_place,
)
from silocuration.reconciling.lists import MOST_BYTES
from silocuration.reconciling.places import (
    PlaceNotFound,
    PlacesUnreadable,
    PlaceUnusable,
    ReconciliationPlace,
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
    "add": "Added.",
    "change": "Changed. What was decided with it stays.",
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


def create(call: Call) -> View | Response:
    """Add a service (``url``) or a list (``part``) of a ``name``.

    With ``ask``, a service is only asked what it is: the page shows that, and adds it if it is
    told to.

    Raises:
        BadRequest: The name is taken or invalid, or the address or the list is invalid.
    """
    name, said, content = call.field("name"), _said(call), _uploaded(call)
    if content is None and not said["url"]:
        raise BadRequest("Give the address of a service, or choose a list.").at("url")
    path = call.site.silo.path
    with told_as(*_REFUSALS):
        if call.field("ask") and content is None:
            if name in read_places(path).places:
                raise PlaceRefused("name", f"there is already a service or list {name}")
            return _view(call, asked=(name, said, _outcome_of_service(path, name, said)))
        place = add_place(path, name, said, content)
    note(call, "add service", (name, None, place.url or place.list))
    return _led(call, "add", name, 201)


def act(call: Call) -> View | Response:
    """Test a service or list (``test``), ``change`` it or ``remove`` it.

    Raises:
        BadRequest: What it is changed to is invalid.
        NotFound: There is no such action, or no such place that can be changed here.
    """
    name, action = call.params["name"], call.params["action"]
    if action not in {"test", "change", "remove"}:
        raise NotFound("There is no page at this address.")
    with told_as(*_REFUSALS):
        if action == "test":
            return _view(call, name)
        if action == "change":
            return _change(call, name)
        remove_place(call.site.silo.path, name)
    note(call, "remove service", ("place", name, None))
    return _led(call, "remove", name, 200)


def _change(call: Call, name: str) -> Response:
    path = call.site.silo.path
    old = read_places(path).place(name)
    new = change_place(path, name, _said(call), _uploaded(call))
    note(call, "change service", (name, old.url or old.list, new.url or new.list))
    return _led(call, "change", name, 200)


def _said(call: Call) -> dict[str, Any]:
    fields = [one for one in FIELDS if call.field(f"for-{one}")]
    return {"url": call.field("url"), "title": call.field("title"),
            "type": call.field("type"), "fields": fields}  # fmt: skip


def _uploaded(call: Call) -> bytes | None:
    """The content of a list, which may be empty; None if no file was chosen."""
    uploaded = call.form.files.get("part")
    content = uploaded.content.read(MOST_BYTES + 1) if uploaded else b""
    return content if content or (uploaded and uploaded.filename) else None


def _view(
    call: Call, tested: str = "", asked: tuple[str, Mapping[str, Any], JobOutcome] | None = None
) -> View:
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
    if asked:
        twin["asked"] = {"name": asked[0], "found": asked[2].name, "message": asked[2].word}
    if outcome:
        twin["tested"] = {"name": tested, "found": outcome.name, "message": outcome.word}
    data = {
        "places": [(one, [field_label(field) for field in one.fields]) for one in places],
        "fault": fault,
        "tested": tested,
        "outcome": outcome,
        "asked": asked,
        "fields": [(name, field_label(name)) for name in FIELDS],
        "most": MOST_BYTES,
        "limit": human_size(MOST_BYTES),
        "here": urls.at(PATH),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
    }
    return View("reconciliation_places.mako", data, twin, urls.at(PATH))


def _tested(call: Call, name: str) -> JobOutcome:
    path = call.site.silo.path
    place: ReconciliationPlace = read_places(path).place(name)
    try:
        found = probe(place, path)
    except PlaceUnusable as error:
        return JobOutcome("failed", as_sentence(error.reason))
    except CurationError as error:
        return JobOutcome("failed", as_sentence(str(error)))
    return JobOutcome("done", _told(found))


def _outcome_of_service(path: str, name: str, said: Mapping[str, Any]) -> JobOutcome:
    try:
        return JobOutcome("done", _told(described(path, name, said)))
    except PlaceUnusable as error:
        return JobOutcome("failed", as_sentence(error.reason))


def _told(found: PlaceDescription) -> str:
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

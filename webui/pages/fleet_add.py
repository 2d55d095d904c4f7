"""Add repositories to a fleet: a pasted list or a file, asked first whether they answer."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from silofleet.lists import Listed, read_list
from silofleet.orders import RunOrder
from silofleet.probing import MOST, Probed, orders_of, probed
from silofleet.values import Endpoint
from silowork.due.timetable import duration_of
from silowork.errors import JobRefused
from webui import urls
from webui.activity import note
from webui.directory import DirectoryCall
from webui.fleet_errors import fleet_told
from webui.http.bodies import human_size
from webui.http.errors import BadRequest, TooLarge, as_sentence
from webui.http.messages import Response
from webui.rendering import View, changed_answer
from webui.words.texts import text as _

MOST_BYTES = 4 << 20
_SHOWN = 60_000
"""Maximum number of characters of a list that is shown again."""
_REFUSED = 20


def ask(_call: DirectoryCall) -> View:
    """Show the form for a list of repositories."""
    return _form("", "", "")


def probe(call: DirectoryCall) -> View:
    """Ask the repositories of the list whether they answer; nothing is stored."""
    text = _text(call)
    if len(text) > _SHOWN:
        raise TooLarge("The list is too long to be asked first; add it, or send a part of it.")
    every, tag = call.field("every"), call.field("tag")
    orders: list[RunOrder] = []
    with fleet_told(call):
        listed = _listed(call, text)
        call.fleet.change(lambda fleet: orders.extend(orders_of(fleet, listed.endpoints)))
    return _form(text, every, tag, found=probed(orders), refused=listed.refused)


def add(call: DirectoryCall) -> View | Response:
    """Add the repositories of the list; those that are known stay as they are."""
    text = _text(call)
    changes = _changes(call)
    added: list[tuple[list[Endpoint], list[Endpoint]]] = []
    with fleet_told(call):
        listed = _listed(call, text)
        wanted = [replace(one, **changes) for one in listed.endpoints]
        call.fleet.change(lambda fleet: added.append(fleet.add(wanted)))
    new, known = added[0]
    names = [one.name for one in new]
    if new:
        said = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
        note(call, "add repositories", message=said)
    told = {
        "added": names,
        "known": [one.url for one in known],
        "refused": [list(one) for one in listed.refused],
    }
    if call.wants_json or (new and not listed.refused):
        return changed_answer(call, urls.fleet(added=len(new), known=len(known) or None), told)
    return _form(text, "", "", refused=listed.refused, added=len(new), known=len(known))


def _form(text: str, every: str, tag: str, **more: Any) -> View:
    found: list[Probed] = more.get("found", [])
    data = {
        "text": text,
        "every": every,
        "tag": tag,
        "found": found,
        "refused": more.get("refused", [])[:_REFUSED],
        "more_refused": max(0, len(more.get("refused", [])) - _REFUSED),
        "added": more.get("added"),
        "known": more.get("known", 0),
        "most": MOST,
        "limit": human_size(MOST_BYTES),
        "most_bytes": MOST_BYTES,
        "fleet_url": urls.fleet(),
        "here": urls.add_repositories(),
    }
    twin = {
        "found": [
            {"name": one.endpoint.name, "url": one.endpoint.url, "answers": one.answers,
             "said": one.said}
            for one in found
        ],
        "refused": [list(one) for one in more.get("refused", [])],
    }  # fmt: skip
    return View("fleet_add.mako", data, twin, urls.add_repositories())


def _text(call: DirectoryCall) -> str:
    """The list of the file, or of the field; as UTF-8, with marks for what is none."""
    uploaded = call.form.files.get("part")
    content = uploaded.content.read(MOST_BYTES + 1) if uploaded else b""
    if len(content) > MOST_BYTES:
        raise TooLarge("This file is larger than the limit of {size}.", size=human_size(MOST_BYTES))
    text = content.decode("utf-8", "replace") if content.strip() else call.field("list")
    if not text.strip():
        raise BadRequest(_("Paste addresses, or choose a file with a list.")).at("list")
    return text


def _listed(call: DirectoryCall, text: str) -> Listed:
    taken: set[str] = set()
    call.fleet.change(lambda fleet: taken.update(fleet.wishes.endpoints))
    found = read_list(text.encode(), "", taken)
    if not found.endpoints and not found.refused:
        raise BadRequest(_("This list has no addresses.")).at("list")
    return found


def _changes(call: DirectoryCall) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if every := call.field("every"):
        try:
            length: timedelta = duration_of(every)
        except JobRefused as error:
            raise BadRequest(as_sentence(str(error))).at("every") from error
        changes["every"] = length
    if tag := call.field("tag"):
        changes["tags"] = tuple(tag.split())
    return changes

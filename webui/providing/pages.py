"""Whether and how the records are given to harvesters, for managers."""

from dataclasses import asdict, replace
from typing import Any

from silocuration.searches import search_names
from siloprovider.errors import SettingInvalid, SettingsUnreadable
from siloprovider.searches import check_searches
from siloprovider.settings import (
    CURRENT,
    READY,
    Branding,
    ProviderSettings,
    read_settings,
    store_settings,
)
from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, ChangeConflict, as_sentence, told_as
from webui.http.messages import Response, whole_number
from webui.providing.oai import address
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

STATES = {CURRENT: "The current version", READY: "The newest version that is ready"}
DONE = {
    "on": "Saved. The records are given to harvesters.",
    "off": "Saved. The records are not given to harvesters.",
}
"""English texts of the catalogue, as the above."""
_LARGEST = 100_000


def show(call: Call) -> View:
    """Show the settings as a form, and the address for harvesters."""
    try:
        settings, fault = read_settings(call.site.silo.path), ""
    except SettingsUnreadable as error:
        settings, fault = ProviderSettings(), as_sentence(error.reason)
    place = settings.base_url or address(call.request)
    icon = settings.branding or Branding("")
    data = {
        "settings": settings,
        "icon": icon,
        "fault": fault,
        "by_operator": call.site.settings.oai,
        "address": place,
        "try_url": urls.at("/oai?verb=Identify"),
        "states": [(name, _(label)) for name, label in STATES.items()],
        "searches": search_names(call.site.silo.path),
        "action": place_of(),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
    }
    return View("providing.mako", data, {**_as_json(settings), "address": place}, place_of())


def place_of(**fields: object) -> str:
    """The address of this page."""
    return urls.with_query(urls.at("/providing"), fields)


def change(call: Call) -> Response:
    """Replace the settings by those of the form; what it does not have stays as it is.

    Raises:
        BadRequest: A value is malformed; nothing is changed.
        ChangeConflict: The file with the settings is invalid.
    """
    path = call.site.silo.path
    try:
        before = read_settings(path)
    except SettingsUnreadable as error:
        said = "The settings in curation/provider.toml cannot be used ({reason}); correct the file."
        raise ChangeConflict(said, reason=error.reason) from None
    with told_as((SettingInvalid, BadRequest)):
        after = _changed(call, before)
        check_searches(call.site.silo, after)
        store_settings(path, after)
    if after != before:
        note(call, "switch on OAI-PMH" if after.page else "change OAI-PMH")
    done = "on" if after.page else "off"
    return changed_answer(call, place_of(done=done), _as_json(after), 200)


def _changed(call: Call, before: ProviderSettings) -> ProviderSettings:
    given = call.form.fields
    changes: dict[str, Any] = {
        "page": call.field("page") == "yes",
        "all_searches": call.field("all_searches") == "yes",
        "branding": _branding(call, before.branding or Branding("")),
    }
    for name in ("name", "base_url", "state", "identifiers", "rights"):
        if name in given:
            changes[name] = call.field(name)
    for name in ("emails", "friends", "searches"):
        if name in given:
            changes[name] = tuple(_parts(call.field(name), name))
    return replace(before, **changes)


def _parts(text: str, name: str) -> list[str]:
    """What is between blanks; addresses of mail may have commas between them, too."""
    return text.replace(",", " ").split() if name == "emails" else text.split()


def _branding(call: Call, before: Branding) -> Branding | None:
    changes: dict[str, Any] = {}
    for name, field in (("icon", "icon"), ("link", "icon_link"), ("title", "icon_title")):
        if field in call.form.fields:
            changes[name] = call.field(field)
    for name in ("width", "height"):
        if f"icon_{name}" in call.form.fields:
            changes[name] = _size(call.field(f"icon_{name}"))
    after = replace(before, **changes)
    return after if after != Branding("") else None


def _size(text: str) -> int:
    number = whole_number(text or "0", 0, _LARGEST)
    if number is None:
        raise BadRequest("The size of a picture is a number of pixels.").at("icon_width")
    return number


def _as_json(settings: ProviderSettings) -> dict[str, Any]:
    return asdict(settings)

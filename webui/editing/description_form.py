"""The page of a description's form, and what its buttons do; for one record or for a queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.formats import Description, describe
from recordsilo.formats.quality import CODES, QualityFinding, findings
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.records.manifest import STATES
from silocuration.editing.fields import Fields, read_fields, write_fields
from silocuration.errors import NoFields
from webui import urls
from webui.editing.edit_form import SAVE, EditForm, about
from webui.editing.edited_file import STALE, chosen_state, edited_path, read_small
from webui.http.errors import BadRequest, ChangeConflict, PreconditionFailed
from webui.http.messages import revision_tag
from webui.queues import ROUND, QueuePlace
from webui.rendering import View
from webui.site import Call, Site
from webui.words.field_labels import field_label
from webui.words.texts import capital
from webui.words.texts import text as _

HINTED = ("creator", "subject", "type", "publisher", "language")
"""Fields whose values are in the index."""
HINTS = 100
CHECKED = 40
"""Maximum number of values of a form that are looked up in other records."""


@dataclass(frozen=True, slots=True)
class OpenedDescription:
    """A description that is open in a form.

    Attributes:
        version: The version whose file is shown.
        path: The file.
        url: The address that the form is sent to.
        place: Where it is in a queue; None outside of one.
    """

    record: HarvestedRecord
    version: str
    path: str
    url: str
    place: QueuePlace | None = None

    @classmethod
    def of(
        cls,
        call: Call,
        record: HarvestedRecord,
        version: str,
        url: str,
        place: QueuePlace | None = None,
    ) -> "OpenedDescription":
        """Open the file that a request names, else the main one.

        Raises:
            FileNotInVersion, Conflict: See `edited_path`.
        """
        return cls(record, version, edited_path(call, record, version), url, place)

    def fields(self) -> Fields:
        """The values of the file as they are now.

        Raises:
            NoFields: It has no flat fields.
            ChangeConflict: It is too large.
        """
        return read_fields(read_small(self.record, self.version, self.path))

    def content(self, form: EditForm) -> bytes:
        """The file with the values of a form."""
        return write_fields(read_small(self.record, self.version, self.path), form.wanted)

    def findings(self, form: EditForm) -> tuple[QualityFinding, ...]:
        """The findings about the description, with the values of the form."""
        try:
            content = self.content(form)
        except NoFields:
            return ()
        return findings(describe(self.path, content) or Description())


@dataclass(frozen=True, slots=True)
class Wanted:
    """A form that can be stored.

    Attributes:
        state: The status that the version gets.
        is_change: Whether anything differs from what is stored.
    """

    form: EditForm
    content: bytes
    state: str | None
    is_change: bool


def submitted(call: Call, opened: OpenedDescription) -> View | Wanted:
    """Return what a sent form stores, or the form again: for another of its buttons, or a fault.

    If the record has changed in the meantime, the changes are merged and shown beside the form's
    values; a program gets 412. The only title is removed only with ``anyway``.
    """
    form = EditForm.of(call.form.fields)
    action = call.field("do") or SAVE
    if action != SAVE:
        return form_view(call, opened, form.after(action, call.form.fields))
    now = _now(opened)
    if form.is_stale(now):
        if call.wants_json:
            raise PreconditionFailed(STALE)
        return form_view(call, opened, form.against(now), status=412)
    if wrong := form.wrong_languages:
        if call.wants_json:
            raise BadRequest(
                "{tag!r} is not a language tag; write one such as en or zh-Hant.", tag=wrong[0]
            )
        return form_view(call, opened, form, status=400)
    if form.loses_title and not call.field("anyway"):
        if call.wants_json:
            raise ChangeConflict(
                "The record would have no title, so nothing was saved. Add a title, or send "
                "anyway=yes."
            )
        return form_view(call, opened, form, status=409)
    state = chosen_state(call, opened.record, opened.version)
    is_change = form.wanted != now or state != opened.record.state.version(opened.version).state
    return Wanted(form, opened.content(form), state, is_change)


def _now(opened: OpenedDescription) -> Fields:
    try:
        return opened.fields()
    except NoFields as error:
        raise ChangeConflict(
            "This file was changed and now {reason}; nothing was saved.",
            reason=error.reason,
        ) from None


# --------------------------------------------------------------------------- its view


def form_view(call: Call, opened: OpenedDescription, form: EditForm, *, status: int = 200) -> View:
    """Return the page of a form."""
    record, version = opened.record, opened.version
    found = opened.findings(form)
    state = chosen_state(call, record, version) or ""
    stored_state = record.state.version(version).state or ""
    said = {
        n: [capital(_(CODES[one.code])) for one in about(field, found)]
        for n, field in enumerate(form.fields)
    }
    data: dict[str, Any] = {
        "form": form,
        "identifier": record.item_id,
        "version": version,
        "is_copy": record.version_is_curated(version),
        "path": opened.path,
        "url": opened.url,
        "queue": opened.place,
        "came_from": call.field("from") or call.request.query.get("from", ""),
        "revision": record.revision,
        "message": call.field("message"),
        "state": state,
        "heading": form.title or record.item_id,
        "findings": said,
        "missing": [
            (capital(_(CODES[one.code])), name) for one in found if (name := form.lacking(one))
        ],
        "upstream_newer": record.upstream_newer(),
        "states": STATES,
        "field_label": field_label,
        "hints": _hints(call.site, form),
        "others": _others(call.site, form),
        "done": call.request.query.get("done", "") == "cloned",
        "is_conflict": form.was is not None,
        "unsaved": [field_label(name) for name in form.unsaved],
        "is_unsaved": bool(form.unsaved or call.field("message")) or state != stored_state,
        "asks_title": status == 409,
        "wrong_languages": form.wrong_languages if status == 400 else (),
    }
    own = {"path": opened.path}
    if opened.place:
        own = {"from": data["came_from"], ROUND: opened.place.round.field}
    page = urls.with_query(opened.url, own)
    headers = {"ETag": revision_tag(record.revision)}
    return View("edit.mako", data, _as_json(opened, form, found), page, status, headers)


def _as_json(
    opened: OpenedDescription, form: EditForm, found: Sequence[QualityFinding]
) -> dict[str, Any]:
    place = opened.place
    where = {"left": place.left, "done": place.round.done, "skip": urls.twin(place.skip)} \
        if place else None  # fmt: skip
    return {
        "identifier": opened.record.item_id,
        "version": opened.version,
        "path": opened.path,
        "revision": opened.record.revision,
        "fields": [
            {"name": one.name, "text": one.text, "lang": one.lang, "place": one.place}
            for one in form.fields
        ],
        "base": form.base_json,
        "findings": [{"code": one.code, "field": one.field, "value": one.value} for one in found],
        "unsaved": list(form.unsaved),
        "conflicts": [one.name for one in form.differing()],
        **({"queue": where} if where else {}),
    }


def _hints(site: Site, form: EditForm) -> dict[str, list[str]]:
    """The most frequent values of the form's fields that are indexed."""
    names = [name for name in HINTED if name in form.names]
    page = PageRequest(limit=1, facet_limit=HINTS)
    facets = site.silo.search("", None, names, page).facets if names else {}
    return {name: [one.value for one in values] for name, values in facets.items()}


def _others(site: Site, form: EditForm) -> dict[int, int]:
    """Number of a value in the form → how many other records have the same value."""
    asked = [(n, one) for n, one in enumerate(form.fields) if one.name in HINTED and one.folded]
    itself = {one.said()[:2] for one in form.base}
    found = {}
    for number, one in asked[:CHECKED]:
        filters = SearchFilters(values={one.name: [one.folded]})
        total = site.silo.search("", filters, page=PageRequest(limit=1)).total
        found[number] = max(total - (one.said()[:2] in itself), 0)
    return found

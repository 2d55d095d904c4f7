"""Show a form again as it was filled in, with the sentence that refuses it.

No handler needs to know how its form is shown: the page that has the form is asked for again, and
the form in it is found by where it is sent.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

import lxml.html
from lxml.html import HtmlElement

from webui.http.errors import WebError

SHOWN_AGAIN = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT)
"""The refusals that a person can mend in the form."""
_FIXED = ("hidden", "password", "file", "submit", "button")
"""Types of inputs that keep what the page gives them."""
_NO_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no page can hold."""


def form_again(
    page: bytes, action: str, method: str, given: Mapping[str, str], error: WebError
) -> bytes | None:
    """Fill in the form of a page, and put an error beside the field that it names.

    Args:
        page: A page of ours, UTF-8.
        action: The address that the form is sent to, without its query.
        method: ``GET`` or ``POST``.
        given: What was sent.
        error: Why it was refused.

    Returns:
        The page; None if it has no such form.
    """
    document = lxml.html.document_fromstring(page.decode())
    found = [one for one in document.iter("form") if _goes_to(one, action, method)]
    if not found:
        return None
    form = max(found, key=lambda one: len(given.keys() & _names(one)))
    typed = {name: _NO_TEXT.sub("\ufffd", text) for name, text in given.items()}
    for control in form.iter("input", "select", "textarea"):
        _fill(control, typed)
    _tell(form, error.field, _NO_TEXT.sub("\ufffd", error.message))
    text: bytes = lxml.html.tostring(document, encoding="utf-8", doctype="<!doctype html>")
    return text


def _goes_to(form: HtmlElement, action: str, method: str) -> bool:
    path = urlsplit(form.get("action") or "").path
    return (form.get("method") or "get").upper() == method and path == action


def _names(form: HtmlElement) -> set[str]:
    return {str(one.get("name")) for one in form.iter("input", "select", "textarea")}


def _fill(control: HtmlElement, given: Mapping[str, str]) -> None:
    name, kind = control.get("name") or "", control.get("type") or "text"
    if control.tag == "input" and kind in _FIXED:
        return
    if kind in {"checkbox", "radio"}:
        _mark(control, "checked", name in given and given[name] == control.get("value", "on"))
    elif name not in given:
        return
    elif control.tag == "select":
        for option in control.iter("option"):
            value = option.get("value", option.text_content())
            _mark(option, "selected", value == given[name])
    elif control.tag == "textarea":
        control.text = given[name]
    else:
        control.set("value", given[name])


def _mark(control: HtmlElement, name: str, is_so: bool) -> None:
    control.attrib.pop(name, None)
    if is_so:
        control.set(name, "")


def _tell(form: HtmlElement, field: str, sentence: str) -> None:
    """Say it beside the field that is wrong, or else at the beginning of the form."""
    fields = [one for one in form.iter("input", "select", "textarea") if one.get("name")]
    named = next((one for one in fields if one.get("name") == field), None)
    if named is None:
        note = form.makeelement("p", {"class": "note fault", "role": "alert", "dir": "auto"})
        note.text = sentence
        form.insert(0, note)
        return
    note_id = f"{named.get('id') or field}-fault"
    note = form.makeelement(
        "small", {"class": "fault", "role": "alert", "dir": "auto", "id": note_id}
    )
    note.text = sentence
    named.addnext(note)
    for more in named.iterancestors("details"):
        more.set("open", "")
    named.set("aria-invalid", "true")
    told = named.get("aria-describedby")
    named.set("aria-describedby", f"{told} {note_id}" if told else note_id)

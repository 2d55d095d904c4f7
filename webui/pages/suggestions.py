"""What one may be typing into a search field, for the list below it; JSON alone."""

from typing import Any

from recordsilo.index.search_values import Suggestion
from webui import urls
from webui.http.messages import Response
from webui.rendering import json_answer
from webui.site import Call
from webui.words.texts import text as _

EACH = 3
"""Maximum number of suggestions of a kind."""
_KINDS = {
    "title": "Title",
    "creator": "Creator",
    "subject": "Subject",
    "identifier": "Identifier",
}
"""English texts of the catalogue."""


def show(call: Call) -> Response:
    """Suggest titles, people, subjects and identifiers that begin with ``q``."""
    found = call.site.silo.suggested(call.request.query.get("q", ""), EACH)
    return json_answer({"suggestions": [_line(one) for one in found]}, indent=None)


def _line(one: Suggestion) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "label": _(_KINDS[one.kind]),
        "text": one.text,
        "records": one.records,
        "url": urls.record(one.identifier)
        if one.identifier
        else urls.search([(one.kind, one.text)]),
    }

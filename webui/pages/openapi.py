"""The page's interface for programs, told as OpenAPI 3.1."""

from webui.http_values import Response
from webui.rendering import json_answer
from webui.site import Call


def show(_call: Call) -> Response:
    """The document, generated from the route table."""
    from webui.api.document import document  # noqa: PLC0415 - it reads the table this is in

    return json_answer(document())

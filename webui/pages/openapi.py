"""The page's interface for programs, as OpenAPI 3.1."""

from webui import urls
from webui.http.messages import Response
from webui.rendering import json_answer
from webui.site import AnyCall


def show(call: AnyCall) -> Response:
    """Show the document, generated from the route table."""
    return json_answer({**call.site.openapi(), "servers": [{"url": urls.at("/")}]})

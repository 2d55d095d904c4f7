"""The page's own files."""

import hashlib

from webui.http.errors import NotFound
from webui.http.messages import Response, redirect
from webui.rendering import STATIC, static_content, static_url
from webui.site import Call

FOR_GOOD = "public, max-age=31536000, immutable"


def show(call: Call) -> Response:
    """A file of ``static/``; kept for good where the address carries its digest."""
    name = call.params["path"]
    try:
        content = static_content(name)
    except FileNotFoundError:
        raise NotFound("There is no such static file.") from None
    tag = f'"{hashlib.sha256(content).hexdigest()[:12]}"'
    is_versioned = tag[1:-1] in call.request.query
    headers = {"ETag": tag} | ({"Cache-Control": FOR_GOOD} if is_versioned else {})
    return Response(200, content, STATIC[name], headers)


def favicon(_call: Call) -> Response:
    """Browsers ask for it unasked."""
    return redirect(static_url("icon.svg"))


def robots(_call: Call) -> Response:
    """A workbench is not to be crawled."""
    return Response(body=b"User-agent: *\nDisallow: /\n")

"""The page's static files."""

from webui.http.errors import NotFound
from webui.http.messages import Response, redirect
from webui.rendering import SOCIAL_PICTURE, STATIC, static_content, static_digest, static_url
from webui.site import AnyCall

FOR_GOOD = "public, max-age=31536000, immutable"


def show(call: AnyCall) -> Response:
    """Send a file of ``static/``; cached permanently if the address tells its content.

    It does with a digest; in ``vendor/`` the names have versions.

    Raises:
        NotFound: There is no such file.
    """
    name = call.params["path"]
    try:
        content = static_content(name)
    except FileNotFoundError:
        raise NotFound("There is no such static file.") from None
    is_kept = name.startswith("vendor/") or static_digest(name) in call.request.query
    headers = {"Cache-Control": FOR_GOOD} if is_kept else {}
    if name == SOCIAL_PICTURE:  # other sites show it
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return Response(200, content, STATIC[name], headers)


def favicon(_call: AnyCall) -> Response:
    """Send the icon that browsers request by themselves."""
    return redirect(static_url("icon.svg"))


def robots(_call: AnyCall) -> Response:
    """Send a robots.txt that forbids crawling."""
    return Response(body=b"User-agent: *\nDisallow: /\n")

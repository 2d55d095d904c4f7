"""A handler's view → an answer: the page by Mako, or its JSON twin.

Every expression of a template is escaped (``default_filters=['h']``). No template disables
this for data; a test checks it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from textwrap import shorten
from typing import Any

from mako.lookup import TemplateLookup

import recordsilo
from recordsilo.records.manifest import STATES
from webui import urls
from webui.contributed import place_of
from webui.http.bodies import human_size
from webui.http.errors import ForeignHost, WebError, heading_of
from webui.http.messages import HTML, JSON, Response, redirect
from webui.people.roles import NOBODY, Role, User
from webui.route import Scope
from webui.site import AnyCall, AnySite
from webui.words import texts
from webui.words.locales import LOCALES
from webui.words.sentences import sentence

PAGE = f"{HTML}; charset=utf-8"
_SHORT = 200
_NAMELESS = "Silo"
"""The name of a site on pages for those who may not know which it is."""


@dataclass(frozen=True, slots=True)
class View:
    """The result of a handler, before it is known whether it becomes a page or JSON.

    Attributes:
        template: Name in ``templates/``.
        data: The template's variables.
        twin: The same as JSON values, or a function that makes them if that is costly.
        url: The page's own address, from which its twin is linked.
        summary: What it is about, for a card on another site; may be long.
    """

    template: str
    data: Mapping[str, Any]
    twin: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    url: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SocialCard:
    """What other sites show of a page when somebody links to it there.

    Attributes:
        origin: The public address of the server, which addresses in a card begin with; empty:
            it has none, so the card has no picture.
        summary: Of the page, at most `_SHORT` letters; empty if it has none.
        tells: Whether title and summary of the page are in it, or the name of the site alone.

    Source: The Open Graph protocol.
    """

    origin: str
    summary: str
    tells: bool

    @classmethod
    def of(cls, origin: str, summary: str, *, is_open: bool, user: User) -> "SocialCard | None":
        """Return the card of a page; None behind a sign-in, where no other site gets.

        Args:
            origin: See the attribute.
            summary: See `View`.
            is_open: Whether nobody has to sign in.
            user: Who asks for the page.
        """
        if user.name and not is_open:
            return None
        return cls(origin, shorten(summary, _SHORT, placeholder=" …") if is_open else "", is_open)


@cache
def _lookup() -> TemplateLookup:
    with as_file(files("webui") / "templates") as directory:
        return TemplateLookup(
            directories=[str(directory)],
            input_encoding="utf-8",
            default_filters=["h"],
            strict_undefined=True,
            filesystem_checks=False,
        )


def answer(
    site: AnySite, view: View, *, as_json: bool, user: User = NOBODY, origin: str = ""
) -> Response:
    """Return the page of a view, or its twin.

    Args:
        site: The site whose name and settings the page shows.
        view: The result of a handler.
        user: Determines what the page offers.
        origin: The public address of the server, for links in other sites; empty: it has none.
    """
    if as_json:
        twin = view.twin() if callable(view.twin) else view.twin
        return json_answer(twin, view.status, view.headers)
    page = html(
        view.template,
        twin_url=urls.twin(view.url),
        page_url=view.url,
        may_change=user.may(Role.CURATOR),
        **_frame(site, user, origin, view.summary),
        **view.data,
    )
    return Response(view.status, page, PAGE, view.headers)


def _frame(site: AnySite, user: User, origin: str = "", summary: str = "") -> dict[str, Any]:
    """What every page has around its content."""
    return {
        "social": SocialCard.of(origin, summary, is_open=site.gate.local is not None, user=user),
        "site_name": site.name,
        "user": user,
        "navigation": site.navigation,
        "suggests": Scope.SILO in site.scopes,
        "shelf_url": urls.shelf() if site.settings.on_shelf else "",
    }


def json_answer(
    value: Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    indent: int | None = 2,
) -> Response:
    """Return a JSON object in UTF-8, indented for human readers.

    Without indentation it takes a quarter of the time.
    """
    body = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "replace") + b"\n"
    return Response(status, body, JSON, headers or {})


def changed_answer(
    call: AnyCall, location: str, told: Mapping[str, Any], status: int = 201
) -> Response:
    """Return the answer to a change: for people a redirect, for programs JSON.

    Args:
        location: Where its result is shown.
        status: Of the JSON.
    """
    if call.wants_json:
        return json_answer(told, status, {"Location": location})
    return redirect(location)


def error_answer(
    site: AnySite, error: WebError, *, as_json: bool, user: User = NOBODY, back: str = ""
) -> Response:
    """Return an error as ``{"error": {"status", "code", "message"}}``, or as a page.

    The page has no card, and to strangers it does not name the site.

    Args:
        site: Shown in the head of the page.
        user: Shown in the head of the page.
        back: The address of the page from which the request came; empty if none is known.
    """
    if as_json:
        members = {"status": int(error.status), "code": error.code, "message": error.message}
        return json_answer({"error": members}, error.status, error.headers)
    is_foreign = isinstance(error, ForeignHost)
    frame = {**_frame(site, NOBODY if is_foreign else user), "social": None}
    if is_foreign or not (user.name or site.gate.local):
        frame["site_name"] = _NAMELESS
    data = {"twin_url": "", "page_url": "", "error": error, "back": back}
    page = html("error.mako", heading=heading_of(error), **data, **frame)
    return Response(error.status, page, PAGE, error.headers)


def html(template: str, **data: Any) -> bytes:
    """Render a template in UTF-8; unpaired surrogates become ``?``."""
    text = _lookup().get_template(template).render_unicode(**{**_FOR_ALL, **data})
    return str(text).encode("utf-8", "replace")


@cache
def static_content(name: str) -> bytes:
    """Read a file of ``static/``.

    Raises:
        FileNotFoundError: No file of that name is served.
    """
    if name not in STATIC:
        raise FileNotFoundError(name)
    directory = files("webui") / "static"
    parts = STYLES if name == STYLE_SHEET else (name,)
    return b"\n".join((directory / part).read_bytes() for part in parts)


STYLES = (
    "vendor/pico-2.1.1.min.css", "face.css",
    "silo.css", "lists.css", "record.css", "forms.css", "differences.css",
    "home.css", "jobs.css", "charts.css", "selection.css", "usage.css", "found.css",
)  # fmt: skip
"""The style sheets, in the order in which they apply; all are sent as one, `STYLE_SHEET`."""
STYLE_SHEET = "page.css"
TYPEFACE = "vendor/source-sans-3-5.3.1-latin.woff2"
"""What every page needs of the typeface; ``face.css`` loads the rest where a letter needs it."""
SOCIAL_PICTURE = "card.png"
"""What other sites show beside a link to the page; ``tools/draw_card.py`` draws it."""

STATIC: Mapping[str, str] = {
    STYLE_SHEET: "text/css; charset=utf-8",
    "silo.js": "text/javascript; charset=utf-8",
    "curate.js": "text/javascript; charset=utf-8",
    "order.js": "text/javascript; charset=utf-8",
    "queue.js": "text/javascript; charset=utf-8",
    "jobs.js": "text/javascript; charset=utf-8",
    "bulk.js": "text/javascript; charset=utf-8",
    "rename.js": "text/javascript; charset=utf-8",
    "found.js": "text/javascript; charset=utf-8",
    "suggest.js": "text/javascript; charset=utf-8",
    "selection.js": "text/javascript; charset=utf-8",
    "usage.js": "text/javascript; charset=utf-8",
    TYPEFACE: "font/woff2",
    "vendor/source-sans-3-5.3.1-latin-ext.woff2": "font/woff2",
    "vendor/source-sans-3-5.3.1-greek.woff2": "font/woff2",
    "icon.svg": "image/svg+xml",
    SOCIAL_PICTURE: "image/png",
}
"""Every served file and its type: a fixed list, so no path can lead elsewhere."""


@cache
def static_digest(name: str) -> str:
    """Return what the address of a static file has of its content."""
    return hashlib.sha256(static_content(name)).hexdigest()[:12]


def static_url(name: str) -> str:
    """Return a static file's address; it changes with the content, so caches keep it."""
    return f"{urls.static(name)}?{static_digest(name)}"


_FOR_ALL: Mapping[str, Any] = {
    "_": texts.text,
    "capital": texts.capital,
    "counted": texts.counted,
    "language": texts.language,
    "languages": LOCALES,
    "numeral": texts.numeral,
    "percent": texts.percent,
    "sentence": sentence,
    "human_size": human_size,
    "place_of": place_of,
    "social_picture": SOCIAL_PICTURE,
    "states": STATES,
    "static_url": static_url,
    "style_sheet": STYLE_SHEET,
    "typeface": TYPEFACE,
    "program_version": recordsilo.__version__,
    "urls": urls,
}
"""The variables of every template."""

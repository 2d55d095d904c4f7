"""The harvest and the response that a harvested version came from."""

from oaipmhscraper.errors import ScraperError
from webui import urls
from webui.http.errors import NotFound, WebError, as_sentence
from webui.record import xml_view
from webui.record.provenance import source_json, source_of
from webui.rendering import View
from webui.site import Call
from webui.words.texts import text as _


def show(call: Call) -> View:
    """Show the origin of a version, with the record as the repository sent it.

    Raises:
        NotFound: The version was created here, not harvested.
        WebError: The journal of open harvests, or the list of an object store, is damaged.
    """
    record = call.record
    origin = record.origin(call.version)
    if origin.kind != "harvest":
        raise NotFound(_("Version {name} was not harvested.", name=call.version))
    prefix = next(iter(origin.prefixes), "")
    prefix_uri = str(call.site.silo.state.get("identifier_uri_prefix") or "")
    try:
        found = source_of(call.site.silo.path, record.item_id, origin, prefix, prefix_uri)
    except ScraperError as error:
        raise WebError(as_sentence(str(error))) from error
    twin = {"identifier": record.item_id, "version": call.version, **source_json(found)}
    data = {
        "identifier": record.item_id,
        "version": call.version,
        "origin": origin,
        "found": found,
        "pieces": xml_view.pieces(found.response.element) if found.response else (),
    }
    return View("source.mako", data, twin, urls.version(record.item_id, call.version, "source"))

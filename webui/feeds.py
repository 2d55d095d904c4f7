"""Records of a search or a collection as an Atom feed."""

from collections.abc import Sequence

from recordsilo import Row
from webui import atom
from webui.http.messages import Response
from webui.record.rows import row_views
from webui.site import Call


def feed_of(
    call: Call,
    rows: Sequence[Row],
    addresses: tuple[str, str],
    *,
    title: str,
    subtitle: str = "",
    date: str = "",
) -> Response:
    """Return the feed of some records; deleted ones are left out.

    Args:
        rows: The newest first.
        addresses: Of the feed, and of the page with the same records; paths.
        date: When it was made, for a feed without records.
    """
    base = f"{call.request.scheme}://{call.request.headers.get('host', '')}"
    own_url, page_url = (base + one for one in addresses)
    lines = row_views(call.site, [row for row in rows if not row.deleted])
    entries = [
        atom.AtomEntry(
            line.row.identifier,
            line.row.title or line.row.identifier,
            base + line.url,
            line.row.datestamp or "",
            line.described.creators,
            (*line.described.values.get("type", ()), *line.described.values.get("subject", ())),
        )
        for line in lines
    ]
    found = atom.Feed(title, own_url, page_url, call.site.name, subtitle, date)
    return Response(200, atom.written(found, entries), atom.MEDIA_TYPE)

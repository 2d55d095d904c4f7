"""Two versions of a record compared, by field and by line."""

from webui import urls
from webui.http.errors import NotFound
from webui.http.messages import revision_tag
from webui.record.version_differences import base_of, compare_versions, comparison_json
from webui.record.view import record_view
from webui.rendering import View
from webui.site import Call
from webui.words.texts import text as _


def show(call: Call) -> View:
    """Compare ``before`` and ``after``; by default the harvested version and the current one.

    Raises:
        NotFound: The record has only one version.
    """
    record = call.record
    after = call.request.query.get("after") or record.currentversion
    record.version_date(after)  # raises VersionNotFound in the store's words
    before = call.request.query.get("before") or base_of(record, after)
    if not before:
        raise NotFound(_("This record has only one version, so there is nothing to compare."))
    found = compare_versions(record, before, after)
    view = record_view(call.site, record, after)
    identifier = record.item_id
    twin = {"identifier": identifier, "revision": record.revision, **comparison_json(found)}
    return View(
        "differences.mako",
        {"view": view, "found": found},
        twin,
        urls.differences(identifier, before, after),
        headers={"ETag": revision_tag(record.revision)},
    )

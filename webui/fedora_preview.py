"""What a record becomes in Fedora, on a page, to which the pages of records lead."""

from recordsilo import Silo
from recordsilo.disk.identifier import url_segment
from recordsilo.panels import Cell, Panel, PanelView, Table
from recordsilo.value_identifiers import IdentifiersUnreadable
from siloexport.errors import ExportError
from siloexport.fedora_places import fedora_places
from siloexport.own_kinds import FEDORA
from silowork.errors import JobRefused
from webui import urls
from webui.contributed import Pages
from webui.http.errors import BadRequest, as_sentence
from webui.page_of_values import page_of_values
from webui.rendering import View
from webui.route import Operation, Query, Route
from webui.site import Call
from webui.words.texts import text as _

_PATH = "/fedora-preview"
_LAYOUTS = ("pcdm", "plain")


def show(call: Call) -> View:
    """Show the statements that a record would have, by the crosswalk of an export place."""
    if (missing := FEDORA.lacking) is not None:
        raise BadRequest(as_sentence(str(missing)))
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415 - loads rdflib
    from siloexport.preview import preview, shortened, shown  # noqa: PLC0415
    from siloexport.targets.fedora.layout import Layout  # noqa: PLC0415

    name, asked = call.request.query.get("place", ""), call.request.query.get("layout", "pcdm")
    if asked not in _LAYOUTS:
        raise BadRequest("The layout must be pcdm or plain.")
    silo, identifier = call.site.silo, call.identifier
    try:
        places = fedora_places(silo.path)
        if name and name not in places:
            raise BadRequest("There is no export place {name}.", name=name)
        mapping = Crosswalk.named((places[name].crosswalk if name else None) or "default")
        found = preview(silo, identifier, mapping, layout=Layout(asked))
    except (ExportError, JobRefused, IdentifiersUnreadable) as error:
        raise BadRequest(str(error).replace(f"{silo.path}/", "")) from None
    files = {(one.predicate, one.term): one.file for one in found.mapped}
    rows = tuple(
        (Cell(str(subject)), Cell(shortened(str(to))), Cell(shown(term)),
         Cell(files.get((to, term), "") if subject == found.subject else ""))
        for subject, to, term in found.statements
    )  # fmt: skip
    columns = (_("Subject"), _("Predicate"), _("Value"), _("Metadata file"))
    note = _("Nothing was sent. Checksums are left out.")
    if found.unread:
        note += " " + _("Not read by the crosswalk: {files}", files=", ".join(found.unread))
    record = Cell(_("Record"), f"/records/{url_segment(identifier)}")
    content = PanelView(note, links=(record,), table=Table(columns, rows))
    url = urls.at(f"{_PATH}/{url_segment(identifier)}")
    return page_of_values(_("Preview in Fedora"), content, url)


def _link(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """Lead to the preview for each Fedora; None without one, or for a deleted record."""
    try:
        names = list(fedora_places(silo.path))
    except JobRefused:
        return None
    if not names or not silo[identifier].state.current.metadata_files:
        return None
    if (missing := FEDORA.lacking) is not None:
        return PanelView(as_sentence(str(missing)))
    address = f"{_PATH}/{url_segment(identifier)}?place="
    links = tuple(Cell(_("Preview: {name}", name=name), f"{address}{name}") for name in names)
    return PanelView(links=links)


_TOLD = Operation(
    "",
    (
        Query("place", text="Name of an export place, whose crosswalk is used."),
        Query("layout", text="`pcdm` (files and collections, too) or `plain`."),
    ),
)
PANEL = Panel("fedora", "Fedora", 70, _link)
PAGES = Pages("fedora-preview", (Route("GET", f"{_PATH}/{{record}}", show, told=_TOLD),))

"""The view of a record for its page and its JSON twin.

Reads the store and changes nothing. The page shows one version (the current one unless
another is requested); the JSON twin has all versions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.errors import DanglingLink, FileNotInVersion, FileUnreadable
from recordsilo.formats import Description, Value, describe_main, main_first
from recordsilo.formats.quality import CODES, QualityFinding, findings
from recordsilo.index.projection import MAX_FACET
from recordsilo.records.description import storable, years_of
from recordsilo.records.manifest import source_datestamp
from webui import urls
from webui.http import downloads
from webui.record import xml_view
from webui.record.damage import Damage, damages
from webui.record.links import href
from webui.record.pictures import MOST_PIXELS, PDF, SEEN, can_draw, size_of_image
from webui.search.renaming import rename_url
from webui.site import Site, name_of_set
from webui.words.language import language_tag, text_language
from webui.words.texts import capital
from webui.words.texts import text as _

DESCRIBED_SIZE = 4 * 1024 * 1024
"""Maximum bytes of metadata files that are shown; larger ones are only linked."""

PREVIEWED_SIZE = 20 * 1024 * 1024
"""Maximum bytes of images that are shown; larger ones are only linked."""

MOST_DOCUMENTS = 4
"""PDF files whose first page is shown."""

FIELDS: tuple[tuple[str, str], ...] = (
    ("Creators", "creators"),
    ("Contributors", "contributors"),
    ("Date", "dates"),
    ("Type", "types"),
    ("Publisher", "publishers"),
    ("Subjects", "subjects"),
    ("Description", "descriptions"),
    ("Language", "languages"),
    ("Identifiers", "identifiers"),
    ("Relations", "relations"),
    ("Source", "sources"),
    ("Coverage", "coverages"),
    ("Format", "formats"),
    ("Rights", "rights"),
)
"""Label (an English text of the catalogue) and attribute of `Description`, in the order
of the page; the titles are its heading."""


FACETS: Mapping[str, str] = {
    "creators": "creator",
    "types": "type",
    "publishers": "publisher",
    "subjects": "subject",
    "languages": "language",
}
"""Field → the facet with its values."""
SHARED: Mapping[str, str] = {
    **FACETS,
    "contributors": "contributor",
    "dates": "date",
    "relations": "relation",
    "sources": "source",
    "coverages": "coverage",
    "formats": "format",
    "rights": "rights",
}
"""Field → the facet or element of Dublin Core by which its values are renamed everywhere. Titles,
descriptions and identifiers are of one record."""
PROSE = frozenset({"subjects", "descriptions"})
"""Fields that, like the titles, are assumed to be in the record's language."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding: its code, and what it says in words."""

    code: str
    said: str


@dataclass(frozen=True, slots=True)
class TextValue:
    """One value of a field.

    Attributes:
        lang: A valid language tag.
        href: The link of the value itself; safe to follow.
        search_url: The search for records with the same value; empty if there is none.
        findings: The findings about it.
        rename_url: The form that renames the value in all records; empty where values are of
            one record only, such as titles.
    """

    text: str
    lang: str | None
    href: str | None
    search_url: str = ""
    findings: tuple["FindingView", ...] = ()
    rename_url: str = ""


@dataclass(frozen=True, slots=True)
class FieldView:
    """A labelled field and its values, in the record's order."""

    label: str
    name: str
    values: tuple[TextValue, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """One file of a version; `kind` is its media type, `fault` the reason why it cannot be read.

    A PDF or an image `is_shown` unless it is none, or has too many pixels for a browser.
    """

    path: str
    size: int | None
    sha256: str | None
    metadata: bool
    url: str
    kind: str = ""
    fault: str = ""
    is_shown: bool = False

    @property
    def is_seen(self) -> bool:
        """Whether there is a page that shows it."""
        return self.kind in SEEN and not self.fault


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version: its origin, and whether it can be changed.

    Attributes:
        date: The store's date of the version.
        made: When it was made here; ``""`` if the 2010 library did not record it.
        datestamp: The source's datestamp of the harvested version, or of a copy's original.
    """

    name: str
    date: str
    made: str
    datestamp: str
    kind: str
    of: str | None
    prefixes: Mapping[str, str]
    agent: str
    message: str
    state: str
    log: tuple[str, ...]
    curated: bool
    is_current: bool
    url: str

    @property
    def origin(self) -> str:
        """Its origin, in words."""
        if self.kind == "harvest":
            return _("harvested")
        if self.kind == "import":
            return _("imported")
        return _("copied from version {name}", name=self.of) if self.of else _("created here")


@dataclass(frozen=True, slots=True)
class SetView:
    """A set of the record."""

    spec: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class XmlView:
    """A metadata file, indented."""

    path: str
    pieces: tuple[xml_view.Piece, ...]


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A record, and one of its versions that is shown.

    Attributes:
        findings: The findings about its description; none if its files are damaged.
        damages: The files of the shown version that are damaged.
        is_frozen: Whether the shown version is kept as harvested.
    """

    identifier: str
    revision: int
    titles: tuple[TextValue, ...]
    fields: tuple[FieldView, ...]
    versions: tuple[VersionView, ...]
    shown: VersionView
    files: tuple[FileView, ...]
    sets: tuple[SetView, ...]
    xml: tuple[XmlView, ...]
    description: Description
    findings: tuple[QualityFinding, ...]
    metadata: Mapping[str, Any]
    deleted: bool
    deleted_at: str
    upstream_newer: bool
    is_held: bool
    damages: tuple[Damage, ...]
    is_frozen: bool

    @property
    def can_be_edited(self) -> bool:
        """Whether the shown version has a description to edit or to copy."""
        return bool(self.xml) and not self.damages

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.titles[0].text if self.titles else self.identifier

    @property
    def current(self) -> VersionView:
        """The current version."""
        return next(version for version in self.versions if version.is_current)

    @property
    def missing(self) -> tuple[FindingView, ...]:
        """The missing fields of its description."""
        return tuple(_said(one) for one in self.findings if not one.value)

    @property
    def previews(self) -> tuple[FileView, ...]:
        """The image files that are small enough to be shown."""
        return tuple(
            file
            for file in self.files
            if file.kind in downloads.IMAGES
            and file.is_shown
            and (file.size or 0) <= PREVIEWED_SIZE
        )

    @property
    def documents(self) -> tuple[FileView, ...]:
        """The PDF files whose first page is shown."""
        if not can_draw():
            return ()
        return tuple(one for one in self.files if one.kind == PDF and one.is_shown)[:MOST_DOCUMENTS]

    @property
    def working_copy(self) -> VersionView | None:
        """The curated version to continue with: the current one, else the newest."""
        curated = [version for version in self.versions if version.curated]
        if self.current.curated:
            return self.current
        return curated[-1] if curated else None


def record_view(
    site: Site, record: HarvestedRecord, version: str | None = None, query: str = ""
) -> RecordPage:
    """Collect the content of a record's page.

    Args:
        site: The site of the record's Silo.
        version: The version shown; by default the current one.
        query: The query of the search that found it, which is added to the addresses of the
            versions.

    Raises:
        VersionNotFound: The record has no such version.
    """
    versions = tuple(_version(record, name, query) for name in record.versions)
    shown = _shown(record, versions, version)
    files = files_of(record, shown.name)
    contents = _metadata_contents(record, shown.name, files)
    damaged = tuple(damages(record, shown.name, files, contents))
    description = describe_main(contents, contents.get)
    metadata = dict(record.metadata)
    deleted = "deleted_at_version" in metadata
    is_checked = contents and not damaged and (shown.curated or not deleted)
    found = findings(description) if is_checked else ()
    titles, fields = description_fields(description, found)
    return RecordPage(
        identifier=record.item_id,
        revision=record.revision,
        titles=titles,
        fields=fields,
        versions=versions,
        shown=shown,
        files=files,
        sets=sets_of(site.set_names, metadata.get("setSpec")),
        xml=tuple(
            XmlView(path, xml_view.pieces(xml_view.pretty(data))) for path, data in contents.items()
        ),
        description=description,
        findings=tuple(found),
        metadata=metadata,
        deleted=deleted,
        deleted_at=str(metadata.get("deleted_at_date", "")),
        upstream_newer=record.upstream_newer(),
        is_held=any(record.paths(name) for name in record.versions),
        damages=damaged,
        is_frozen=record.is_frozen(shown.name),
    )


def _shown(
    record: HarvestedRecord, versions: tuple[VersionView, ...], name: str | None
) -> VersionView:
    wanted = name if name is not None else record.currentversion
    record.version_date(wanted)  # raises VersionNotFound in the store's words
    return next(version for version in versions if version.name == wanted)


def _version(record: HarvestedRecord, name: str, query: str) -> VersionView:
    origin = record.origin(name)
    return VersionView(
        name=name,
        date=record.version_date(name),
        made=origin.date,
        datestamp=source_datestamp(record.state, name),
        kind=origin.kind,
        of=origin.of,
        prefixes=dict(origin.prefixes),
        agent=origin.agent,
        message=origin.message,
        state=record.version_state(name) or "",
        log=tuple(record.version_log(name)),
        curated=record.version_is_curated(name),
        is_current=name == record.currentversion,
        url=urls.version(record.item_id, name, **{"from": query}),
    )


def files_of(record: HarvestedRecord, version: str) -> tuple[FileView, ...]:
    """Return the files of a version in stored order; an unreadable one has its reason."""
    return tuple(_file(record, version, path) for path in record.paths(version))


def _file(record: HarvestedRecord, version: str, path: str) -> FileView:
    url = urls.file(record.item_id, version, path)
    try:
        info = record.file_info(path, version)
        with record.get_stream(path, version) as stream:
            beginning = stream.read(downloads.SNIFFED)
    except DanglingLink as error:
        fault = _("a link that leads nowhere ({target})", target=error.target)
        return FileView(path, None, None, False, url, fault=fault)
    except FileNotInVersion:
        return FileView(path, None, None, False, url, fault=_("missing on disk"))
    except FileUnreadable as error:
        return FileView(path, None, None, False, url, fault=error.reason)
    kind = downloads.content_type(path, beginning, metadata=info.is_metadata)
    size = size_of_image(beginning) if kind in downloads.IMAGES else None
    is_shown = (
        b"%PDF-" in beginning if kind == PDF else not size or size[0] * size[1] <= MOST_PIXELS
    )
    return FileView(
        path,
        info.size,
        info.sha256,
        info.is_metadata,
        url,
        kind.partition(";")[0],
        is_shown=is_shown,
    )


def sets_of(names: Mapping[str, Any], specs: object) -> tuple[SetView, ...]:
    """Return the sets of a list of specs, with their names (`Site.set_names`)."""
    known = [str(spec) for spec in specs] if isinstance(specs, (list, tuple)) else []
    return tuple(_set_view(spec, name_of_set(names, spec), urls.search()) for spec in known)


@lru_cache(maxsize=4096)
def _set_view(spec: str, name: str, search: str) -> SetView:
    """Return a cached set: the records of a page share a few sets."""
    return SetView(spec, name, urls.with_query(search, {"set": spec}))


def _metadata_contents(
    record: HarvestedRecord, version: str, files: Iterable[FileView]
) -> dict[str, bytes]:
    """Return the readable metadata files of a version, the main one first."""
    read = {f.path: f for f in files if f.metadata and f.size is not None}
    contents = {}
    for file in map(read.__getitem__, main_first(read)):
        if (file.size or 0) <= DESCRIBED_SIZE:
            with record.get_stream(file.path, version) as stream:
                contents[file.path] = stream.read()
    return contents


def description_fields(
    description: Description, found: Sequence[QualityFinding] = ()
) -> tuple[tuple[TextValue, ...], tuple[FieldView, ...]]:
    """Return the titles and the fields with values, including languages and links.

    Args:
        found: The findings about the description.
    """
    languages = {tag for value in description.languages if (tag := language_tag(value.text))}
    language = languages.pop() if len(languages) == 1 else None
    titles = _values("titles", description, language, found)
    fields = (
        FieldView(
            _(label), name, _values(name, description, language if name in PROSE else None, found)
        )
        for label, name in FIELDS
    )
    return titles, tuple(field for field in fields if field.values)


def _values(
    name: str, description: Description, language: str | None, found: Sequence[QualityFinding]
) -> tuple[TextValue, ...]:
    said: dict[str, tuple[FindingView, ...]] = {}
    for one in found:
        if one.field == name:
            said[one.value] = (*said.get(one.value, ()), _said(one))
    return tuple(
        TextValue(
            v.text,
            text_language(v.text, v.lang, language),
            href(v.text),
            _search_url(name, v, description),
            said.get(v.text, ()),
            _rename_url(name, v),
        )
        for v in getattr(description, name)
        if v.text.strip()
    )


def _said(finding: QualityFinding) -> FindingView:
    return FindingView(finding.code, capital(_(CODES[finding.code])))


def _search_url(name: str, value: Value, description: Description) -> str:
    """Return the search for the records with a value, as the index stores it."""
    if name == "dates":
        years = years_of((value,))
        known = years and years == years_of(description.dates)
        return urls.search([("year", years[0])]) if known else ""
    if name not in FACETS:
        return ""
    return urls.search([(FACETS[name], storable(value.text[:MAX_FACET]))])


def _rename_url(name: str, value: Value) -> str:
    """Return the form that renames a value everywhere."""
    if name not in SHARED:
        return ""
    return rename_url("", SHARED[name], [storable(value.text[:MAX_FACET])])


def as_json(
    record: HarvestedRecord, view: RecordPage, results: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the JSON twin of the page of a record.

    Args:
        results: The JSON values of the search that the record was reached from.
    """
    return {
        "identifier": view.identifier,
        "url": urls.record(view.identifier),
        "revision": view.revision,
        "title": view.description.title,
        "deleted": view.deleted,
        "curated": view.current.curated,
        "upstream_newer": view.upstream_newer,
        "current_version": view.current.name,
        "version": view.shown.name,
        "description": _description_json(view.description),
        "findings": [
            {"code": one.code, "field": one.field, "value": one.value} for one in view.findings
        ],
        "sets": [{"spec": s.spec, "name": s.name} for s in view.sets],
        "metadata": view.metadata,
        "versions": [version_json(record, version) for version in view.versions],
        "results": results,
    }


def _description_json(description: Description) -> dict[str, Any]:
    return {
        name: [{"text": v.text} | ({"lang": v.lang} if v.lang else {}) for v in values]
        for name, values in description.items()
    }


def version_as_json(record: HarvestedRecord, view: RecordPage) -> dict[str, Any]:
    """Return the shown version alone."""
    shown = version_json(record, view.shown)
    return {"identifier": view.identifier, "revision": view.revision, **shown}


def version_json(record: HarvestedRecord, version: VersionView) -> dict[str, Any]:
    """Return one version with its files."""
    return {
        "name": version.name,
        "url": version.url,
        "date": version.date,
        "read_only": not version.curated,
        "state": version.state or None,
        "origin": {
            "kind": version.kind,
            "of": version.of,
            "prefixes": version.prefixes,
            "agent": version.agent,
            "message": version.message,
            "date": version.made,
        },
        "log": version.log,
        "files": [file_json(file) for file in files_of(record, version.name)],
    }


def file_json(file: FileView) -> dict[str, Any]:
    """Return one file: its size on the disk in bytes, and the recorded SHA-256."""
    members = {
        "path": file.path,
        "url": file.url,
        "size": file.size,
        "sha256": file.sha256,
        "metadata": file.metadata,
        "type": file.kind or None,
    }
    return members | ({"fault": file.fault} if file.fault else {})

"""A record as a person sees it, and as its JSON twin gives it.

Reads the store and changes nothing. The view shows one version (the current one unless
another is asked for); the twin tells of all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.errors import DanglingLink, FileNotInVersion, FileUnreadable
from recordsilo.formats import Description, Value, describe_main, main_first
from recordsilo.formats.quality import CODES, Finding, findings
from recordsilo.index.projection import MAX_FACET, storable, years_of
from recordsilo.records.manifest import source_datestamp
from webui import urls
from webui.http import downloads
from webui.record import xml_view
from webui.record.links import href
from webui.site import Site, name_of_set
from webui.words.language import language_tag, text_language
from webui.words.texts import text as _

DESCRIBED_SIZE = 4 * 1024 * 1024
"""Larger metadata files are linked only."""

PREVIEWED_SIZE = 20 * 1024 * 1024
"""Larger images are linked only."""

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
shown; the titles head the page."""


FACETS: Mapping[str, str] = {
    "creators": "creator",
    "types": "type",
    "publishers": "publisher",
    "subjects": "subject",
    "languages": "language",
}
"""Field → the facet that has its values."""
PROSE = frozenset({"subjects", "descriptions"})
"""Beside the titles, the fields whose values are in the record's own language if any is."""


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
        href: Where the value itself leads; safe to follow.
        search_url: The records with the same value; empty where there is no such search.
        findings: What is to be looked at in it.
    """

    text: str
    lang: str | None
    href: str | None
    search_url: str = ""
    findings: tuple["FindingView", ...] = ()


@dataclass(frozen=True, slots=True)
class FieldView:
    """A labelled field and its values, in the record's order."""

    label: str
    name: str
    values: tuple[TextValue, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """One file of a version; `kind` is the type it is sent as, `fault` why it cannot be read."""

    path: str
    size: int | None
    sha256: str | None
    metadata: bool
    url: str
    kind: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version: where it came from, and whether it can be changed here.

    Attributes:
        date: As the store has it.
        made: When it was made here; ``""`` where 2010 did not note it.
        datestamp: The source's, of the version harvested that it is or was made of.
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
        """Where it came from, in words."""
        if self.kind == "harvest":
            return _("harvested")
        return _("copied from version {name}", name=self.of) if self.of else _("created here")


@dataclass(frozen=True, slots=True)
class SetView:
    """A set the record is in."""

    spec: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class XmlView:
    """A metadata file, indented."""

    path: str
    pieces: tuple[xml_view.Piece, ...]


@dataclass(frozen=True, slots=True)
class RecordView:
    """A record with one of its versions in view.

    Attributes:
        findings: What is to be looked at in its description.
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
    findings: tuple[Finding, ...]
    metadata: Mapping[str, Any]
    deleted: bool
    deleted_at: str
    upstream_newer: bool
    is_held: bool

    @property
    def title(self) -> str:
        """What the page is called."""
        return self.titles[0].text if self.titles else self.identifier

    @property
    def current(self) -> VersionView:
        """The version the cursor stands on."""
        return next(version for version in self.versions if version.is_current)

    @property
    def missing(self) -> tuple[FindingView, ...]:
        """What its description lacks."""
        return tuple(_said(one) for one in self.findings if not one.value)

    @property
    def previews(self) -> tuple[FileView, ...]:
        """The images among the files that are small enough to be shown."""
        return tuple(
            file
            for file in self.files
            if file.kind in downloads.IMAGES and (file.size or 0) <= PREVIEWED_SIZE
        )

    @property
    def working_copy(self) -> VersionView | None:
        """The curated version to go on with: the current one, else the youngest."""
        curated = [version for version in self.versions if version.curated]
        if self.current.curated:
            return self.current
        return curated[-1] if curated else None


def record_view(site: Site, record: HarvestedRecord, version: str | None = None) -> RecordView:
    """Gather what the page of a record shows.

    Raises:
        VersionNotFound: The record has no such version.
    """
    versions = tuple(_version(record, name) for name in record.versions)
    shown = _shown(record, versions, version)
    contents = _metadata_contents(record, shown.name)
    description = describe_main(contents, contents.get)
    metadata = dict(record.metadata)
    deleted = "deleted_at_version" in metadata
    found = findings(description) if contents and (shown.curated or not deleted) else ()
    titles, fields = description_fields(description, found)
    return RecordView(
        identifier=record.item_id,
        revision=record.revision,
        titles=titles,
        fields=fields,
        versions=versions,
        shown=shown,
        files=files_of(record, shown.name),
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
    )


def _shown(
    record: HarvestedRecord, versions: tuple[VersionView, ...], name: str | None
) -> VersionView:
    wanted = name if name is not None else record.currentversion
    record.version_date(wanted)  # raises VersionNotFound in the store's words
    return next(version for version in versions if version.name == wanted)


def _version(record: HarvestedRecord, name: str) -> VersionView:
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
        curated=record.is_curated(name),
        is_current=name == record.currentversion,
        url=urls.version(record.item_id, name),
    )


def files_of(record: HarvestedRecord, version: str) -> tuple[FileView, ...]:
    """The files of a version in the order put; one that cannot be read says why."""
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
    return FileView(path, info.size, info.sha256, info.is_metadata, url, kind.partition(";")[0])


def sets_of(names: Mapping[str, Any], specs: object) -> tuple[SetView, ...]:
    """The sets of a list of specs, by their names (`Site.set_names`)."""
    known = [str(spec) for spec in specs] if isinstance(specs, (list, tuple)) else []
    return tuple(_set_view(spec, name_of_set(names, spec), urls.search()) for spec in known)


@lru_cache(maxsize=4096)
def _set_view(spec: str, name: str, search: str) -> SetView:
    """The records of a page share a few sets."""
    return SetView(spec, name, urls.with_query(search, {"set": spec}))


def _metadata_contents(record: HarvestedRecord, version: str) -> dict[str, bytes]:
    """The readable metadata files of a version, the main one first."""
    files = {f.path: f for f in files_of(record, version) if f.metadata and f.size is not None}
    contents = {}
    for file in map(files.__getitem__, main_first(files)):
        if (file.size or 0) <= DESCRIBED_SIZE:
            with record.get_stream(file.path, version) as stream:
                contents[file.path] = stream.read()
    return contents


def description_fields(
    description: Description, found: Sequence[Finding] = ()
) -> tuple[tuple[TextValue, ...], tuple[FieldView, ...]]:
    """The titles, and the fields that have values, with languages and links worked out.

    Args:
        found: What is to be looked at in the description.
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
    name: str, description: Description, language: str | None, found: Sequence[Finding]
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
        )
        for v in getattr(description, name)
        if v.text.strip()
    )


def _said(finding: Finding) -> FindingView:
    return FindingView(finding.code, _(CODES[finding.code]).capitalize())


def _search_url(name: str, value: Value, description: Description) -> str:
    """The search for the records that have a value, as the index has it."""
    if name == "dates":
        years = years_of((value,))
        known = years and years == years_of(description.dates)
        return urls.search([("year", years[0])]) if known else ""
    if name not in FACETS:
        return ""
    return urls.search([(FACETS[name], storable(value.text[:MAX_FACET]))])


def as_json(
    record: HarvestedRecord, view: RecordView, results: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The JSON twin of the page of a record.

    Args:
        results: What it says of the search that the record was reached from.
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


def version_as_json(record: HarvestedRecord, view: RecordView) -> dict[str, Any]:
    """The version shown, on its own."""
    shown = version_json(record, view.shown)
    return {"identifier": view.identifier, "revision": view.revision, **shown}


def version_json(record: HarvestedRecord, version: VersionView) -> dict[str, Any]:
    """One version with its files."""
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
    """One file: size in bytes as on the disk, SHA-256 as recorded."""
    members = {
        "path": file.path,
        "url": file.url,
        "size": file.size,
        "sha256": file.sha256,
        "metadata": file.metadata,
        "type": file.kind or None,
    }
    return members | ({"fault": file.fault} if file.fault else {})

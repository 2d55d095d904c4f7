"""What a record says: the descriptive fields of its version, and how prompts show them."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any

from recordsilo.errors import FileNotInVersion, did_you_mean
from recordsilo.formats import Description
from recordsilo.html_tables import Link, named, table
from recordsilo.records.description import (
    datestamp_of,
    description_of,
    doi_in,
    links_in,
    metadata_paths,
    moment_of,
    sets_of,
    texts,
    title_of_others,
    years_of,
)
from recordsilo.records.manifest import Manifest, Version
from recordsilo.records.metadata_document import MetadataDocument
from recordsilo.records.record_view import RecordView
from recordsilo.wording import cut_middle, escaped

_LINKS = 3
"""Links of a record that a notebook shows."""
_WIDTH = 88
"""Characters of a line of a record at the prompt."""


class DescribedRecord(ABC):
    """The part of `HarvestedRecord` that reads descriptions; it changes nothing.

    The fields are those of the version that the cursor is on, and empty if it says nothing.
    """

    _described: tuple[Version | None, Description] = None, Description()

    @property
    @abstractmethod
    def item_id(self) -> str:
        """The identifier, in full."""

    @property
    @abstractmethod
    def state(self) -> Manifest:
        """The record's state, with the cursor and metadata of this handle."""

    @property
    @abstractmethod
    def currentversion(self) -> str:
        """The version that the cursor is on."""

    @property
    @abstractmethod
    def files(self) -> list[str]:
        """Top-level names in that version."""

    @property
    @abstractmethod
    def _manifest(self) -> Manifest: ...

    @property
    @abstractmethod
    def _view(self) -> RecordView: ...

    @abstractmethod
    def _version(self, name: str | None = None) -> Version: ...

    @property
    def description(self) -> str | None:
        """The first abstract or other description."""
        return next(iter(texts(self._description.descriptions)), None)

    @property
    def title(self) -> str | None:
        """The title; of a version without one, as after a deletion, that of the newest with one."""
        found = self._description.title or title_of_others(self.state, self._view.read)
        return found or None

    @property
    def creators(self) -> tuple[str, ...]:
        """The names of the creators."""
        return texts(self._description.creators)

    @property
    def year(self) -> int | None:
        """The year of the first date that has one."""
        return next(map(int, years_of(self._description.dates)), None)

    @property
    def types(self) -> tuple[str, ...]:
        """What it is, such as ``Article``."""
        return texts(self._description.types)

    @property
    def doi(self) -> str | None:
        """The first DOI, without ``doi:``, such as ``10.5555/wex.3002``."""
        return doi_in(self.item_id, self._description)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects and keywords."""
        return texts(self._description.subjects)

    @property
    def publishers(self) -> tuple[str, ...]:
        """The names of the publishers."""
        return texts(self._description.publishers)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, as the metadata spells them."""
        return texts(self._description.languages)

    @property
    def rights(self) -> tuple[str, ...]:
        """Statements of rights, and licences."""
        return texts(self._description.rights)

    @property
    def links(self) -> tuple[str, ...]:
        """The http and https addresses in all metadata files."""
        version = self._described_version
        return () if version is None else links_in(version, self._view.read)

    @property
    def sets(self) -> tuple[str, ...]:
        """The setSpecs of its sets at the source."""
        return sets_of(self._manifest)

    @property
    def datestamp(self) -> datetime | None:
        """When the source last changed it, or for a record made here its date; in UTC.

        None if the source gave no valid date.
        """
        return moment_of(datestamp_of(self._manifest))

    @property
    def is_curated(self) -> bool:
        """Whether the version was made by people here, not by a harvest or an import."""
        version = self._described_version
        return version is not None and version.is_curated

    @property
    def is_deleted(self) -> bool:
        """Whether the source deleted the record; its earlier versions are kept here."""
        return "deleted_at_version" in self._manifest.metadata

    def open(self, name: str | None = None, version: str | None = None) -> MetadataDocument:
        """A metadata file as a parsed description, with all its values by field.

        Args:
            name: The file's, such as ``oai_dc``; by default the main metadata file, from which
                `title` and the other fields come.
            version: By default the cursor's.

        Raises:
            FileNotInVersion: There is no such file; the message names those that there are.
            MetadataUnreadable: It is not XML, or malformed.
        """
        listed = self._version(version)
        known = metadata_paths(listed)
        if name is None and known:
            name = known[0]
        if name is None or name not in listed.paths:
            missing = "no metadata" if name is None else f"no metadata file {name!r}"
            has = f"; it has {', '.join(known)}{did_you_mean(name or '', known)}" if known else ""
            told = f"version {listed.name!r} of record {self.item_id} has {missing}{has}"
            raise FileNotInVersion(self.item_id, listed.name, name or "", told)
        content = self._view.read(listed.name, name)
        return MetadataDocument(self.item_id, listed.name, name, content)

    @property
    def _described_version(self) -> Version | None:
        return self._version() if self._manifest.versions else None

    @property
    def _description(self) -> Description:
        """The description in the cursor's version, read once for each state that is seen."""
        version = self._described_version
        if version is not None and self._described[0] is not version:
            self._described = version, description_of(version, self._view.read)
        return Description() if version is None else self._described[1]

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What IPython shows: a few lines."""
        printer.text(self.summary)

    @property
    def summary(self) -> str:
        """The identifier, title, creators, year, version and files, in a few lines."""
        versions, now = self._manifest.versions, self.currentversion
        marks = {"deleted at the source": self.is_deleted, "curated": self.is_curated}
        others = f" (of {', '.join(one.name for one in versions)})" if len(versions) > 1 else ""
        said = {
            "title": self.title or "(no title)",
            "creators": "; ".join(self.creators),
            "year": str(self.year or ""),
            "version": f"{now}{others}" if versions else "(none)",
            "files": ", ".join(self.files if versions else ()),
            "marks": ", ".join(name for name, is_so in marks.items() if is_so),
        }
        lines = [f"  {name:<8}  {cut_middle(text, _WIDTH)}" for name, text in said.items() if text]
        return "\n".join(map(escaped, (self.item_id, *lines)))

    def _repr_html_(self) -> str:
        doi, when = self.doi, self.datestamp
        marks = {"deleted at the source": self.is_deleted, "curated": self.is_curated}
        return named(
            [
                ("identifier", self.item_id),
                ("creators", "; ".join(self.creators)),
                ("year", None if self.year is None else str(self.year)),
                ("types", "; ".join(self.types)),
                ("DOI", None if doi is None else Link(doi, f"https://doi.org/{doi}")),
                *(("link", Link(one, one)) for one in self.links[:_LINKS]),
                ("datestamp", f"{when:%Y-%m-%d %H:%M:%S}" if when else None),
                ("", ", ".join(name for name, is_so in marks.items() if is_so)),
            ],
            caption=self.title or "(no title)",
        ) + table(
            [
                (
                    one.name + (" ←" if one.name == self.currentversion else ""),
                    one.date,
                    f"{one.origin.kind} {one.origin.agent or ''}".strip(),
                    one.state or "",
                    ", ".join(one.paths),
                )
                for one in self._manifest.versions
            ],
            head=("version", "date", "origin", "status", "files"),
        )

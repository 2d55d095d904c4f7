"""DataCite: a document for each record, in XML or JSON, to register DOIs with.

out/oai+eprints,example,org+6102.xml

It says what all metadata of the record's last version says together. A record that lacks what
DataCite requires is reported; there is never an invalid document.

Source: DataCite Metadata Schema 4.5.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace

from recordsilo.disk.atomic_file import Barrier, digest_of, write_new
from recordsilo.disk.regular_file import regular_fd
from siloexport.bibliography import bibliography_of
from siloexport.errors import DepositFailed, ExportError, TargetUnusable
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets.datacite_document import PropertiesMissing, document_of
from siloexport.targets.datacite_dois import PREFIX, DataciteSettings
from siloexport.targets.datacite_words import GENERAL_TYPES
from siloexport.targets.datacite_xml import xml_of
from siloexport.targets.directory import DirectoryTarget
from siloexport.values import Deposit, Difference, Withdrawal

_VARIANT = "datacite 1"
DEFAULT = DataciteSettings()


def checked_settings(settings: DataciteSettings) -> DataciteSettings:
    """Return settings that documents can be made with.

    Raises:
        ExportError: A prefix or a type is none.
    """
    if settings.prefix and not PREFIX.fullmatch(settings.prefix):
        raise ExportError(f"{settings.prefix!r} is not a prefix of DOIs, such as 10.5072")
    if settings.type and settings.type not in GENERAL_TYPES:
        raise ExportError(f"{settings.type!r} is none of {', '.join(GENERAL_TYPES)}")
    return settings


class DataciteTarget(DirectoryTarget):
    """A directory that records are exported to as documents of DataCite.

    Args:
        directory: A new or empty directory, or one from an earlier export of documents.
        settings: What is not given is as in the directory. JSON needs a directory of its own.
    """

    writes_identifiers = True

    def __init__(self, directory: str, settings: DataciteSettings = DEFAULT) -> None:
        self._given = checked_settings(settings)
        self._documents = _Documents(settings)
        super().__init__(directory, self._documents)

    def _take_marker(self, marker: bytes) -> None:
        kept = self._settings_in(
            marker, lambda text: checked_settings(DataciteSettings(**json.loads(text)))
        )
        if kept is None:
            return
        if self._given.json and not kept.json:
            raise TargetUnusable(f"{self.shown} holds XML; name another directory for JSON")
        given = {name: value for name, value in asdict(self._given).items() if value}
        self._form = self._documents = _Documents(replace(kept, **given))

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        """See `Target`; also whether the metadata is enough for a document."""
        if isinstance(step, Deposit):
            self._documents.document(step)
        return super().foresee(step, is_first=is_first)


class _Documents:
    """See `siloexport.targets.directory.RecordForm`."""

    name = "datacite"

    def __init__(self, given: DataciteSettings) -> None:
        self.given, self.settings = given, json.dumps(asdict(given))
        self.suffix = ".json" if given.json else ".xml"
        self.variant = f"{_VARIANT} {digest_of_json(self.settings)[:16]}"

    def document(self, deposit: Deposit) -> bytes:
        """Return the document of a record.

        Raises:
            DepositFailed: It lacks something.
            FileNotInVersion, SourceChanged: A metadata file is missing or damaged.
        """
        found = bibliography_of(deposit.version, deposit.identifier)
        try:
            said = document_of(deposit.identifier, found, self.given)
        except PropertiesMissing as error:
            raise DepositFailed(deposit.identifier, f"it {error}") from None
        if self.given.json:
            return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode()
        return xml_of(said)

    def day(self, path: str, deposit: Deposit) -> str:  # noqa: ARG002 - documents have no day
        return ""

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:  # noqa: ARG002 - see `day`
        return write_new(path, [self.document(deposit)], barrier).sha256

    def digest(self, path: str) -> str:
        if not os.path.isfile(path) or os.path.islink(path):
            return ""
        with open(path, "rb", opener=regular_fd) as file:
            return digest_of(file).sha256

    def expected(self, deposit: Deposit) -> str | None:
        return hashlib.sha256(self.document(deposit)).hexdigest()

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        if self.digest(path) != self.expected(deposit):
            why = f"{os.path.basename(path)} is not the document of the record"
            yield deposit.differs("description", path, why)

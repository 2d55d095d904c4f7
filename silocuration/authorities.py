"""The Silo's own authority files: which identifier a value of a field has.

``curation/authorities/<field>.csv`` has the columns ``value``, ``id``, ``name``, ``service``,
``agent`` and ``date``; a value has one line. Anybody may edit it with a spreadsheet: further
columns, and lines without an id, stay as they are, and a cell that would be a formula is guarded.
"""

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from recordsilo.cells import bare, guarded
from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import open_regular
from recordsilo.records.manifest import now_text
from recordsilo.value_identifiers import (
    IdentifiersOfValues,
    IdentifierSource,
    IdentifiersUnreadable,
    ValueIdentifier,
    has_right_check_digit,
    has_right_gnd_digit,
    has_right_ror_digits,
)
from silocuration.csv_rows import CsvDamaged, CsvRows, has_control_character
from silocuration.errors import CurationError

AUTHORITIES = "curation/authorities"
FIELDS: Mapping[str, str] = {
    "creator": "creator",
    "contributor": "contributor",
    "publisher": "publisher",
    "subject": "subject",
}
"""Field → the Dublin Core element whose values have identifiers."""
INDEXED = tuple(one for one in FIELDS if one != "contributor")
"""Those whose values are in the index; others are read from the records."""
_MOST_BYTES = 256 << 20


class AuthoritiesUnreadable(CurationError):
    """The authority file of a field cannot be read."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        super().__init__(f"{AUTHORITIES}/{field}.csv cannot be read: {reason}")


class IdentifierRefused(CurationError):
    """An identifier cannot be given to a value."""

    def __init__(self, value: str, key: str) -> None:
        super().__init__(
            f"{key!r} cannot be the identifier of {value!r}: it has a control character"
        )


@dataclass(frozen=True, slots=True)
class Authority:
    """Which entity a value means.

    Attributes:
        id: As its service writes it.
        name: As its service writes it.
        service: The name of the service or list.
    """

    value: str
    id: str
    name: str = ""
    service: str = ""
    agent: str = ""
    date: str = ""

    @property
    def scheme(self) -> str:
        """What kind of identifier it is, such as ``ORCID``; empty if that is not known."""
        return scheme_of(self.id)[0]

    @property
    def link(self) -> str:
        """Its address; empty if it has none."""
        return scheme_of(self.id)[1]


_COLUMNS = tuple(one.name for one in fields(Authority))
_SCHEMES: tuple[tuple[str, str, "re.Pattern[str]"], ...] = tuple(
    (name, address, re.compile(pattern, re.IGNORECASE))
    for name, address, pattern in (
        ("ORCID", "https://orcid.org/{}",
         r"(?:https?://orcid\.org/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])"),
        ("ROR", "https://ror.org/{}", r"(?:https?://ror\.org/|ror:)(0[a-z0-9]{8})"),
        ("Wikidata", "https://www.wikidata.org/wiki/{}",
         r"(?:https?://www\.wikidata\.org/(?:wiki|entity)/|wikidata:)?(Q[1-9]\d{0,11})"),
        ("VIAF", "https://viaf.org/viaf/{}", r"(?:https?://viaf\.org/viaf/|viaf:)(\d{2,22})/?"),
        ("GND", "https://d-nb.info/gnd/{}",
         r"(?:https?://d-nb\.info/gnd/|gnd:)([0-9X][0-9X-]{2,14})"),
        ("ISNI", "https://isni.org/isni/{}",
         r"(?:https?://(?:www\.)?isni\.org/(?:isni/)?|isni:)(\d{15}[\dX])"),
        ("LCSH", "https://id.loc.gov/authorities/subjects/{}",
         r"(?:https?://id\.loc\.gov/authorities/subjects/|lcsh:)(sh\d{6,12})"),
    )
)  # fmt: skip
SCHEME_ADDRESSES: Mapping[str, str] = {
    name: address.removesuffix("{}") for name, address, _form in _SCHEMES
}
"""Kind of identifier → the beginning of its addresses."""
_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "ORCID": has_right_check_digit, "ISNI": has_right_check_digit, "ROR": has_right_ror_digits,
    "GND": has_right_gnd_digit,
}  # fmt: skip
"""Kind of identifier → whether its check digits are right; the other kinds have none."""
_WEB = re.compile(
    r"https?://[^\s/?#\"<>\\^`{|}%]+(?:[/?#](?:[^\s\"<>\\^`{|}\[\]%]|%[0-9A-Fa-f]{2})*)?"
)
_SPACES = {"orcid.org": "orcid:", "ror.org": "ror:", "viaf.org": "viaf:", "d-nb.info": "gnd:",
           "isni.org": "isni:", "wikidata.org": "wikidata:"}  # fmt: skip


def scheme_of(key: str) -> tuple[str, str]:
    """Return the kind of an identifier, and its address; each empty if it is not known.

    An ORCID, ISNI, ROR or GND number with a wrong check digit is of no kind, and has no address.
    """
    text = key.strip()
    for name, address, form in _SCHEMES:
        if found := form.fullmatch(text):
            number = found[1]
            if name in {"ORCID", "Wikidata", "ISNI"}:
                number = number.upper()
            if not _CHECKS.get(name, bool)(number):
                return "", ""
            return name, address.format(number.lower() if name == "ROR" else number)
    return "", text if _is_web(text) else ""


def _is_web(text: str) -> bool:
    """Whether it is an address of the web; letters outside ASCII may stand in it, as in an IRI."""
    if not text.isprintable() or not _WEB.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.port != 0  # a port that is no number is refused
    except ValueError:
        return False


def full_id(key: str, identifier_space: str, view: str = "") -> str:
    """Return the identifier of a service as one that can stand alone.

    Args:
        key: Of a candidate: often only a number.
        identifier_space, view: Of the manifest; the address of a page has ``{{id}}`` in it.
    """
    if scheme_of(key)[1]:
        return scheme_of(key)[1]
    for host, prefix in _SPACES.items():
        if host in identifier_space or host in view:
            found = scheme_of(prefix + key)[1]
            if found:
                return found
    page = view.replace("{{id}}", quote(key, safe=""))
    return page if scheme_of(page)[1] else key


class _AuthorityTable(NamedTuple):
    """An authority file.

    Attributes:
        columns: Their names, those of `Authority` first.
        rows: Value → column → cell.
    """

    columns: tuple[str, ...]
    rows: dict[str, dict[str, str]]


_LeftOut = Callable[[int, Mapping[str, str]], None]


def read_authorities(
    silo_path: str, field: str, left_out: _LeftOut | None = None
) -> dict[str, Authority]:
    """Return value → what it means; empty if there is no file.

    Args:
        left_out: See `CsvRows`.

    Raises:
        AuthoritiesUnreadable: The file cannot be read, or is damaged.
    """
    found = {}
    for value, row in _read(silo_path, field, left_out).rows.items():
        if row.get("id"):
            found[value] = Authority(**{name: row.get(name, "") for name in _COLUMNS})
    return found


def _read(silo_path: str, field: str, left_out: _LeftOut | None = None) -> _AuthorityTable:
    try:
        with open_regular(_path(silo_path, field)) as file:
            content = file.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        return _AuthorityTable(_COLUMNS, {})
    except OSError as error:
        raise AuthoritiesUnreadable(field, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise AuthoritiesUnreadable(field, "it is not UTF-8; save it as UTF-8") from None
    if len(content) > _MOST_BYTES:
        raise AuthoritiesUnreadable(field, f"it is larger than {_MOST_BYTES >> 20} MiB")
    try:
        return _table(text, left_out)
    except CsvDamaged as error:
        raise AuthoritiesUnreadable(field, str(error)) from None


def _table(text: str, left_out: _LeftOut | None) -> _AuthorityTable:
    rows = CsvRows(text, ("value", "id"), left_out=left_out)
    columns = tuple(dict.fromkeys((*_COLUMNS, *filter(None, rows.columns))))
    found: dict[str, dict[str, str]] = {}
    for _number, row in rows:
        said = {name: bare(row.get(name, "").strip()) for name in columns}
        if said["value"] and (said["id"] or said["value"] not in found):
            found[said["value"]] = said
    return _AuthorityTable(columns, found)


def _for_exports(silo_path: str, told: Callable[[str], None]) -> IdentifiersOfValues:
    known = {}
    for field in FIELDS:

        def left_out(line: int, row: Mapping[str, str], field: str = field) -> None:
            told(
                f"line {line} of {AUTHORITIES}/{field}.csv: the id of {row['value'].strip()!r} has"
                " a control character, and is not exported; correct it"
            )

        try:
            known[field] = read_authorities(silo_path, field, left_out)
        except AuthoritiesUnreadable as error:
            raise IdentifiersUnreadable(str(error)) from error
    return {field: {one.value: _as_identifier(one) for one in values.values()}
            for field, values in known.items()}  # fmt: skip


def _as_identifier(one: Authority) -> ValueIdentifier:
    scheme, link = scheme_of(one.id)
    return ValueIdentifier(one.id, scheme, link, SCHEME_ADDRESSES.get(scheme, ""))


AUTHORITIES_OF_SILO = IdentifierSource("authorities", _for_exports)


def change_authorities(
    silo_path: str, field: str, given: Iterable[Authority], taken: Iterable[str] = ()
) -> None:
    """Give values their identifiers, and take those of others back; whole or not at all.

    Args:
        given: Replace what the values had.
        taken: Values.

    Raises:
        IdentifierRefused: One has a control character; the file is not changed.
        AuthoritiesUnreadable: See `read_authorities`; the file is not changed.
    """
    given = list(given)
    for one in given:
        if has_control_character(one.id):
            raise IdentifierRefused(one.value, one.id)
    path = _path(silo_path, field)
    with Locks.of_silo(silo_path).hold_name(f"authorities-{field}"):
        columns, known = _read(silo_path, field)
        for value in taken:
            row = known.pop(value, {})
            noted = {name: cell for name, cell in row.items() if name not in _COLUMNS and cell}
            if noted:
                known[value] = {"value": value} | noted
        for one in given:
            known[one.value] = known.get(one.value, {}) | asdict(one)
        text = io.StringIO()
        rows = csv.DictWriter(text, columns, lineterminator="\n")
        rows.writeheader()
        quoted = csv.DictWriter(text, columns, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for value in sorted(known):
            row = {name: guarded(cell) for name, cell in known[value].items()}
            has_return = any("\r" in cell for cell in row.values())  # `csv` leaves it unquoted
            (quoted if has_return else rows).writerow(row)
        make_parents(path, silo_path)
        replace_file(path, text.getvalue().encode("utf-8", "replace"))


def now() -> str:
    """Return the date of a decision."""
    return now_text()


def _path(silo_path: str, field: str) -> str:
    if field not in FIELDS:
        raise AuthoritiesUnreadable(field, "there is no such field")
    return os.path.join(silo_path, *AUTHORITIES.split("/"), f"{field}.csv")

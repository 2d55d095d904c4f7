"""Requests of DSpace 7 name items and files by UUIDs, which lead to the records."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.formats import Link
from usagestats.errors import SettingsInvalid
from usagestats.rules.of_silo import rules_of
from usagestats.rules.uuids import MAX_TABLE, read_table, uuid_of
from usagestats.values import Use, UseKind

HOST = "https://dspace.example.org"
ITEM, FILE, THUMBNAIL, OTHER = (f"{number}{'0' * 7}-0000-4000-8000-{'0' * 12}" for number in "abcd")
OAI_DC = (
    '<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc='
    f'"http://purl.org/dc/elements/1.1/"><dc:identifier>{HOST}/handle/1/2</dc:identifier>'
    f"<dc:relation>{HOST}/items/{OTHER}</dc:relation>%s</dc>"
)
XOAI = f"""<metadata xmlns="http://www.lyncode.com/xoai">
<element name="dc"><element name="identifier"><element name="uri"><element name="none">
<field name="value">{HOST}/items/{ITEM.upper()}</field></element></element></element>
<element name="relation"><element name="none"><field name="value">{HOST}/items/{OTHER}</field>
</element></element></element><element name="bundles">
<element name="bundle"><field name="name">THUMBNAIL</field><element name="bitstreams">
<element name="bitstream"><field name="name">p.jpg</field>
<field name="url">{HOST}/bitstreams/{THUMBNAIL}/download</field></element></element></element>
<element name="bundle"><field name="name">ORIGINAL</field><element name="bitstreams">
<element name="bitstream"><field name="url">{HOST}/bitstreams/{FILE}/download</field>
</element></element></element></element></metadata>"""
ORE = (
    '<entry xmlns="http://www.w3.org/2005/Atom"><link rel="http://www.openarchives.org/ore/terms/'
    f'aggregates" href="{HOST}/bitstreams/{FILE}/download" type="application/pdf"/></entry>'
)
METS = (
    '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><fileSec>'
    '<fileGrp USE="ORIGINAL"><file ID="f1"><FLocat LOCTYPE="URL" '
    f'xlink:href="{HOST}/bitstreams/{FILE}/download"/></file></fileGrp></fileSec></mets>'
)
CONTENT, DOWNLOAD = "/server/api/core/bitstreams/{}/content", "/bitstreams/{}/download"


def silo_with(path: str, files: dict[str, dict[str, str]]) -> str:
    """Put these metadata files into records of a Silo."""
    with Silo(path, create=False) as silo:
        for identifier, named in files.items():
            record = silo.get_item(identifier)
            for name, content in named.items():
                record.put_stream(name, content, metadata=True)
    return path


def uses_of(silo_path: str, *paths: str) -> list[tuple[str, UseKind]]:
    with Silo(silo_path, create=False) as silo:
        rules, _ = rules_of(silo, "dspace7", remember=False)
        found = [rules.patterns.use(path) for path in paths]
    assert all(isinstance(one, Use) for one in found)
    return [(one.item, one.kind) for one in found if one is not None]


def test_an_item_and_its_files_are_found_by_xoai(silo_path: str) -> None:
    silo_with(silo_path, {"oai:a:1": {"oai_dc": OAI_DC % "", "xoai": XOAI}})
    assert uses_of(
        silo_path, f"/items/{ITEM}", DOWNLOAD.format(FILE), CONTENT.format(FILE),
        CONTENT.format(THUMBNAIL), f"/items/{OTHER}",
    ) == [
        ("oai:a:1", UseKind.VIEW), ("oai:a:1", UseKind.DOWNLOAD), ("oai:a:1", UseKind.DOWNLOAD),
        (THUMBNAIL, UseKind.OTHER), (OTHER, UseKind.VIEW),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ore", ORE),
        ("mets", METS),
        ("oai_dc", OAI_DC % f"<dc:identifier>{HOST}/bitstreams/{FILE}/download</dc:identifier>"),
    ],
)
def test_a_file_is_found_by_other_formats(silo_path: str, name: str, content: str) -> None:
    silo_with(silo_path, {"oai:a:1": {name: content}})
    assert uses_of(silo_path, CONTENT.format(FILE)) == [("oai:a:1", UseKind.DOWNLOAD)]


def test_a_uuid_of_two_records_is_of_none(silo_path: str) -> None:
    silo_with(silo_path, {"oai:a:1": {"xoai": XOAI}, "oai:a:2": {"xoai": XOAI}})
    assert uses_of(silo_path, f"/items/{ITEM}") == [(ITEM, UseKind.VIEW)]


def test_a_table_leads_to_records_and_comes_first(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    silo_path = silo_with(new_silo('uuids = "dspace.csv"\n'), {"oai:example.org:7": {"xoai": XOAI}})
    table = Path(silo_path, "usage", "dspace.csv")
    table.write_text(f"\ufeffuuid,record\r\n{ITEM.upper()},7\r\n\r\n{OTHER},oai:a:9\r\n")
    assert uses_of(silo_path, f"/items/{ITEM}", f"/items/{OTHER}", CONTENT.format(FILE)) == [
        ("oai:example.org:7", UseKind.VIEW),
        ("oai:a:9", UseKind.VIEW),
        ("oai:example.org:7", UseKind.DOWNLOAD),
    ]
    for content, why in (
        (f"{ITEM},7\n{OTHER}\n", "line 2 is not UUID,record"),
        (f"{ITEM},7\n1,2\n", "line 2 is not UUID,record"),
        (f"{ITEM},7,8\n", "line 1 is not UUID,record"),
    ):
        table.write_text(content)
        with pytest.raises(SettingsInvalid, match=why):
            uses_of(silo_path)
    table.unlink()
    with pytest.raises(SettingsInvalid, match="No such file"):
        uses_of(silo_path)
    table.symlink_to("/dev/zero")
    with pytest.raises(SettingsInvalid, match="not a regular file"):
        uses_of(silo_path)


def test_the_profile_is_chosen_by_links_to_files(silo_path: str) -> None:
    Path(silo_path, "usage", "usage.toml").unlink()
    silo_with(silo_path, {"oai:example.org:1/2": {"oai_dc": OAI_DC % "", "xoai": XOAI}})
    with Silo(silo_path, create=False) as silo:
        rules, _ = rules_of(silo, remember=False)
    assert rules.settings.profile == "dspace7"


def test_only_links_of_the_record_itself_are_its_own() -> None:
    address = f"{HOST}/items/{ITEM}"
    assert uuid_of(Link(address, "dc:identifier")) == ITEM
    assert uuid_of(Link(f"{address}/full?x=1", "atom:link:alternate")) == ITEM
    for field in ("dc:relation", "dcterms:isPartOf", "xoai:dc.relation.uri", "dc:source"):
        assert uuid_of(Link(address, field)) == ""
    assert uuid_of(Link(f"{HOST}/collections/{ITEM}", "dc:identifier")) == ""
    assert uuid_of(Link("http://[x", "dc:identifier")) == ""


def test_a_table_has_a_line_of_names_or_none_and_empty_lines(tmp_path: Path) -> None:
    table = tmp_path / "uuids.csv"
    known = {ITEM: "oai:a:1", FILE: "oai:a, b"}
    for begin in ("", "\ufeff", "uuid,record\n", "\n , \n"):
        table.write_text(f'{begin}{ITEM.upper()}, oai:a:1\r\n\n{FILE},"oai:a, b"\n', "utf-8")
        assert read_table(str(table)) == known


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"uuid,record\nuuid,record\n", "line 2 is not UUID,record"),
        (f"{ITEM},\n".encode(), None),
        (f"{ITEM},1\n{FILE},\n".encode(), "line 2 is not UUID,record"),
        (f"{ITEM},\xe9\n".encode("latin-1"), "it is not UTF-8; save it as UTF-8"),
        (b"x" * 200_000 + b",y\n", "field larger than field limit"),
    ],
)
def test_a_line_of_a_table_that_says_nothing_is_named(
    tmp_path: Path, content: bytes, why: str | None
) -> None:
    table = tmp_path / "uuids.csv"
    table.write_bytes(content)
    if why is None:
        assert read_table(str(table)) == {}, "the first line may be one of names"
        return
    limit = csv.field_size_limit(131_072)  # other modules of the process may have raised it
    try:
        with pytest.raises(ValueError, match=why):
            read_table(str(table))
    finally:
        csv.field_size_limit(limit)


def test_a_table_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "uuids.csv", "wb") as file:
        file.truncate(MAX_TABLE + 1)
    with pytest.raises(ValueError, match=f"more than {MAX_TABLE >> 20} MiB"):
        read_table(str(tmp_path / "uuids.csv"))

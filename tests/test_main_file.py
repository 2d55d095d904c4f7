"""The main metadata file of a version is the same everywhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.formats import FORMATS, describe_main, format_of, main_first
from recordsilo.formats.documents import parsed, unwrapped
from recordsilo.formats.table import signature
from recordsilo.index.schema import VERSION
from recordsilo.records.description import description_of
from silocuration.editing.changes import metadata_document
from siloexport.targets.tables import described
from webui.record.view import record_view
from webui.site import Site, SiteSettings

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></oai_dc:dc>'
)
MODS = (
    '<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>Title in MODS</title></titleInfo>'
    "<note>flat</note></mods>"
)


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as opened:
        yield opened


@pytest.mark.parametrize("name", ["oai_dc", "oai_dc.xml"])
def test_list_page_curation_and_export_take_the_title_of_the_same_file(
    silo: Silo, name: str
) -> None:
    record = silo.get_item("r")
    record.put_stream("mods.xml", MODS, None, True)
    record.put_stream(f"{name}.about", "<about/>", None, True)
    record.put_stream(name, DC.format("Title in DC"), None, True)
    record = silo["r"]

    def read(version: str, path: str) -> bytes:
        with record.get_stream(path, version) as stream:
            return stream.read()

    view = record_view(Site.of(silo, SiteSettings(agent="a.curator")), record)
    titles = {
        "list": silo.row("r").title,
        "page": view.titles[0].text,
        "curation": metadata_document(record.state.current, read)[1].fields[0].text,
        "export": described(record, record.state.current).title,
        "projection": description_of(record.state.current, read).title,
    }
    assert set(titles.values()) == {"Title in DC"}, titles
    assert [one.path for one in view.xml] == [name, "mods.xml", f"{name}.about"]


def test_a_file_without_a_title_leaves_the_word_to_the_next(silo: Silo) -> None:
    record = silo.get_item("r")
    record.put_stream("oai_dc", DC.format(""), None, True)
    record.put_stream("mods", MODS, None, True)
    assert silo.row("r").title == "Title in MODS"
    view = record_view(Site.of(silo, SiteSettings(agent="a.curator")), silo["r"])
    assert view.titles[0].text == "Title in MODS"


def test_files_of_equal_preference_stay_in_the_order_put() -> None:
    assert main_first(["z", "a", "oai_dc.about", "oai_dc.xml", "x/oai_dc"]) == [
        "oai_dc.xml", "z", "a", "x/oai_dc", "oai_dc.about",
    ]  # fmt: skip
    assert describe_main(["a"], lambda _path: None).title == ""


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ('<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/"/>', "Dublin Core"),
        ("<dc/>", "Dublin Core"),
        ('<dc xmlns="http://other.example/"/>', "another format"),
        ('<article xmlns="http://other.example/"/>', "another format"),
        ('<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/"/>', "JATS"),
    ],
)
def test_a_format_is_known_by_namespace_and_root(document: str, name: str) -> None:
    root = parsed(document.encode())
    assert root is not None
    assert format_of(root).name == name


@pytest.mark.parametrize(
    ("document", "root"),
    [
        ('<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><a/></metadata>', "a"),
        ("<metadata><a/></metadata>", "a"),
        ("<metadata><metadata><a/></metadata></metadata>", "a"),
        ("<metadata><idinfo/><distinfo/></metadata>", "metadata"),
        ('<metadata xmlns="http://other.example/"><a/><b/></metadata>', "metadata"),
        ('<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><a/><b/></metadata>', "a"),
        ("<metadata/>", "metadata"),
    ],
)
def test_only_the_element_of_oai_pmh_is_taken_off(document: str, root: str) -> None:
    found = parsed(document.encode())
    assert found is not None
    assert unwrapped(found).tag.rpartition("}")[2] == root


def test_no_two_formats_claim_a_prefix_or_a_root() -> None:
    prefixes = [prefix for one in FORMATS for prefix in one.prefixes]
    assert len(prefixes) == len(set(prefixes))
    roots = [
        (root.name, space) for one in FORMATS for root in one.roots for space in root.namespaces
    ]
    assert len(roots) == len(set(roots))


def test_an_index_is_of_the_formats_that_made_it() -> None:
    assert signature() == VERSION & 0xFFFF

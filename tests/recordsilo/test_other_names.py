"""Records by DOI, handle, and the address of their page at the source."""

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.errors import RecordNotFound, SeveralRecords

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On wind</dc:title>%s</oai_dc:dc>'
)


@pytest.fixture(scope="module")
def silo(tmp_path_factory: pytest.TempPathFactory) -> Silo:
    path = tmp_path_factory.mktemp("named") / "s"
    made = Silo(str(path), identifier_uri_prefix="oai:ex.org:")
    for number, more in {
        "1": "<dc:identifier>https://doi.org/10.5555/WEX.1</dc:identifier>"
        "<dc:relation>http://ex.org/1/</dc:relation>",
        "2": "<dc:identifier>doi:10.5555/wex.1.2</dc:identifier>"
        "<dc:identifier>https://ex.org/item/two</dc:identifier>",
        "3": "<dc:identifier>doi:10.5555/twice</dc:identifier>",
        "4": "<dc:identifier>10.5555/TWICE</dc:identifier>"
        "<dc:relation>https://ex.org/handle/99/4</dc:relation>",
        "99/4": "<dc:relation>https://ex.org/handle/99/4</dc:relation>",
    }.items():
        record = made.get_item(f"oai:ex.org:{number}", force=True)
        record.put_stream("oai_dc", DC % more, metadata=True)
    return made


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10.5555/wex.1", "1"), ("https://doi.org/10.5555/wex.1", "1"), ("doi:10.5555/WEX.1", "1"),
        ("10.5555/wex.1.2", "2"), ("http://ex.org/item/two/", "2"),
        ("HTTPS://ex.org/item/two", "2"),
        ("https://ex.org/1", "1"), ("http://ex.org/1/", "1"),
    ],
)  # fmt: skip
def test_a_record_is_named_by_its_doi_or_its_page(silo: Silo, text: str, number: str) -> None:
    assert silo.resolve(text) == f"oai:ex.org:{number}"


@pytest.mark.parametrize(
    "text",
    [
        "10.5555/wex", "https://doi.org/10.5555/wex.3", "https://other.org/1", "https://ex.org/2",
        "https://ex.org/", "https://", "https://[/1", "https://ex.org/item", "wex.1",
        "https://ex.org/\0", "10.5555/\ud800", 'https://ex.org/"1', "10.5555/" + "x" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is(silo: Silo, text: str) -> None:
    with pytest.raises(RecordNotFound):
        silo.resolve(text)


def test_several_records_are_named_and_refused(silo: Silo) -> None:
    with pytest.raises(SeveralRecords, match=r"oai:ex\.org:3, oai:ex\.org:4; name one"):
        silo.resolve("10.5555/twice")
    assert silo.exists("oai:ex.org:4")
    with pytest.raises(SeveralRecords) as caught:
        silo.resolve("https://ex.org/handle/99/4")
    assert caught.value.records == ("oai:ex.org:4", "oai:ex.org:99/4")


def test_commands_take_them(silo: Silo) -> None:
    def run(*given: str) -> tuple[int, str]:
        result = CliRunner().invoke(silo_command, given)
        return result.exit_code, result.output + str(result.exception or "")

    assert run("show", silo.path, "10.5555/wex.1.2")[1].startswith("identifier  oai:ex.org:2\n")
    assert run("ls", silo.path, "--item", "https://ex.org/1")[1].startswith("oai:ex.org:1\t")
    assert run("put", silo.path, "10.5555/wex.1", __file__)[0] == 0
    code, said = run("rm", silo.path, "10.5555/twice", "--yes")
    assert code
    assert "is of 2 records" in said
    assert len(silo) == 5

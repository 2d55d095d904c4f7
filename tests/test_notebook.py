"""A notebook as people write one, executed; and what its cells show."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from oaipmhprovider.server import SampleServer

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("default"),  # those of Jupyter are its own
]
CELLS = {
    "harvest": """\
import recordsilo
recordsilo.harvest("URL", "myrepo", ["oai_dc", "uketd_dc"])""",
    "silo": """\
silo = recordsilo.open("myrepo")
silo""",
    "found": "silo.search(limit=12)",
    "record": """\
record = silo["3002"]
record.clone_version("1", "mine")
record""",
    "differences": """\
record.put_stream("note.txt", "<script>alert(1)</script>\\n", message="<b>")
record.differences("1", "mine")""",
    "unchanged": "record.differences('1', '1')",
    "keys": """\
[get_ipython().complete(None, f"silo{start}", len(f"silo{start}"))[1][:3]
 for start in ('["300', "['oai:eprints.example.org:301", '["zz')]""",
    "wrong record": "silo['30002']",
    "wrong file": "record.get_stream('oai_cd')",
    "wrong directory": "recordsilo.open('my-repo')",
    "wrong format": "recordsilo.harvest('URL', 'other', 'oai_cd')",
    "update": "silo.update()",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Any]]]:
    """Name of a cell → its outputs."""
    directory = tmp_path_factory.mktemp("notebook")
    with SampleServer(size=40) as server, pytest.MonkeyPatch.context() as changed:
        changed.setenv("IPYTHONDIR", str(directory / "ipython"))
        changed.setenv("JUPYTER_RUNTIME_DIR", str(directory / "runtime"))
        changed.setenv("PYTHONWARNINGS", "default")
        cells = [code.replace("URL", server.base_url) for code in CELLS.values()]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        place = {"metadata": {"path": str(directory)}}
        client = nbclient.NotebookClient(
            notebook, timeout=60, kernel_name="python3", allow_errors=True, resources=place
        )
        client.execute()
        yield dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def html(found: list[Any]) -> str:
    """The HTML of the last output of a cell."""
    return str(found[-1]["data"]["text/html"])


def texts(of: str) -> list[str]:
    return [one.strip() for one in re.findall(r">([^<]+)<", of) if one.strip()]


def told(found: list[Any]) -> str:
    """The error of a cell, which is a sentence after the line of the cell itself."""
    (error,) = [one for one in found if one.output_type == "error"]
    lines = "\n".join(error.traceback).splitlines()
    assert len(lines) <= 5, lines
    assert not any("recordsilo" in line and "File" in line for line in lines), lines
    return str(lines[-1])


def test_a_harvest_shows_its_progress_and_its_receipt(outputs: dict[str, list[Any]]) -> None:
    progress, receipt = outputs["harvest"]
    shown = progress["data"]["text/html"]
    assert re.search(r'oai_dc</td>\s*<td><progress value="40" max="40"></progress></td>', shown)
    assert "uketd_dc" in shown
    assert progress["data"]["text/plain"].startswith("oai_dc: 40 of 40 records\nuketd_dc: ")
    rows = texts(receipt["data"]["text/html"])
    assert rows[1:4] == ["listed", "new", "updated"]
    assert rows[-1] == "Whole: everything listed is in the Silo."
    assert texts(html(outputs["update"]))[-1] == "Nothing new."


def test_a_silo_and_what_a_search_found_are_tables(outputs: dict[str, list[Any]]) -> None:
    silo = texts(html(outputs["silo"]))
    assert silo[:4] == ["Silo myrepo", "repository", "Wexcombe Research Repository", "address"]
    assert silo[silo.index("formats") + 1].startswith("oai_dc (")
    found = html(outputs["found"])
    assert texts(found)[:4] == [
        "12 records of 40 found, by identifier",
        "identifier",
        "title",
        "creators",
    ]
    assert found.count("<tr>") == 11
    assert "… and 2 more" in found
    assert '<a href="https://doi.org/10.5555/wex.3002" rel="noopener noreferrer">' in found


def test_a_record_is_a_table_with_its_versions(outputs: dict[str, list[Any]]) -> None:
    shown = texts(html(outputs["record"]))
    assert shown[0] == "Pollinator networks reconsidered"
    assert "Wainwright, Grace A.; Adeyemi, Fiona; Wainwright, E. R.; Swan, Hamish" in shown
    assert shown[shown.index("mine ←") :][2].startswith("clone ")


def test_differences_are_a_table_without_markup_of_others(outputs: dict[str, list[Any]]) -> None:
    shown = html(outputs["differences"])
    assert texts(shown)[:1] == ["version 1 → version mine"]
    assert texts(shown)[5:8] == ["note.txt", "added", "26"]
    assert "<script" not in shown
    assert "no differences" in html(outputs["unchanged"])


def test_the_tab_key_completes_identifiers(outputs: dict[str, list[Any]]) -> None:
    keys = [["3000", "3001", "3002"], ["3010", "3011", "3012"], []]
    assert ast.literal_eval(outputs["keys"][-1]["data"]["text/plain"]) == keys


def test_an_error_is_the_line_of_the_cell_and_a_sentence(outputs: dict[str, list[Any]]) -> None:
    assert told(outputs["wrong record"]).startswith("RecordNotFound: the Silo myrepo has no record")
    assert "did you mean '3000' or '3002'?" in told(outputs["wrong record"])
    assert "it has oai_dc, note.txt; did you mean 'oai_dc'?" in told(outputs["wrong file"])
    assert told(outputs["wrong directory"]) == (
        "SiloNotFound: there is no Silo at my-repo; did you mean 'myrepo'?"
    )
    (refused,) = outputs["wrong format"]
    assert "its formats: oai_dc, uketd_dc, pmc_fm; did you mean 'oai_dc'?" in refused.evalue

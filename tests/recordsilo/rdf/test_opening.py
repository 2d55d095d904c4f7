"""RDF in Silos and granaries, in a file of its own, and not loaded where it is not used."""

import os
from pathlib import Path

import pytest
from rdf_checks import RunPython
from rdflib import Literal

from recordsilo import Granary, RDFManifest, RDFRecord, RDFSilo
from recordsilo.rdf.records import RDFManifestUnreadable

# -- never loaded where not used -----------------------------------------------------------


def test_importing_the_store_does_not_import_rdflib(run_python: RunPython) -> None:
    done = run_python(
        "import sys, recordsilo\n"
        "from recordsilo import *\n"
        "import recordsilo.granary, recordsilo.commands.records\n"
        "assert 'rdflib' not in sys.modules and 'recordsilo.rdf.records' not in sys.modules\n"
        "from recordsilo import RDFSilo, RDFRecord, RDFManifest\n"
        "assert 'rdflib' in sys.modules\n"
        "assert not hasattr(recordsilo, 'RDFNothing')"
    )
    assert done.returncode == 0, done.stderr


def test_without_rdflib_the_error_says_how_to_install_it(run_python: RunPython) -> None:
    done = run_python(
        "import sys\n"
        "sys.modules['rdflib'] = None\n"
        "import recordsilo\n"
        "for name in ('RDFSilo', 'RDFRecord', 'RDFManifest'):\n"
        "    try: getattr(recordsilo, name)\n"
        "    except ModuleNotFoundError as error: assert error.name == 'rdflib'; print(error)"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" -m pip install 'rdflib<") == 3


# -- silo and granary ------------------------------------------------------------------------


def test_every_way_to_a_record_gives_an_rdf_record(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    found = [rdf_silo["oai:x:1"], rdf_silo.get_item("oai:x:1"), rdf_silo.get_item("oai:x:2")]
    found += [rdf_silo.get("oai:x:1"), *rdf_silo.iteritems()]  # type: ignore[list-item] # a record
    assert [type(one) for one in found] == [RDFRecord] * 5


def test_granary_opens_an_rdf_silo_with_its_uri_base(tmp_path: Path) -> None:
    granary = Granary(str(tmp_path / "granary"))
    with granary.get_rdf_silo("one", uri_base="http://x.example/", note="kept") as silo:
        assert isinstance(silo, RDFSilo)
        assert silo.get_item("y").uri == "http://x.example/y"
        assert silo.state["note"] == "kept"
    assert granary.silos == ["one"]


def test_the_constructor_honours_the_date(rdf_silo: RDFSilo) -> None:
    record = rdf_silo.get_item("oai:x:1", date="2004-06-24")
    record.put_stream("a", "a")
    assert rdf_silo["oai:x:1"].date == record.date == "2004-06-24T00:00:00"


# -- RDFManifest by itself -------------------------------------------------------------------


def test_a_manifest_in_a_file_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "m.rdf")
    manifest = RDFManifest(path)
    assert manifest.to_string().endswith("</rdf:RDF>\n")
    manifest.add_namespace("x", "http://x.example/")
    manifest.add_triple("info:y", "x:z", "text")
    assert not os.path.exists(path)
    manifest.sync()
    manifest.add_triple("info:y", "x:z", "not stored")
    manifest.revert()
    assert manifest.list_objects("info:y", "x:z") == [Literal("text")]
    assert RDFManifest(path).triple_exists("info:y", "x:z", "text")
    with pytest.raises(RDFManifestUnreadable):
        RDFManifest(path, format="turtle")
    Path(path).write_text("damaged")
    with pytest.raises(RDFManifestUnreadable, match=r"m\.rdf.*left as it is"):
        RDFManifest(path)
    assert Path(path).read_text() == "damaged"

"""The second half of the blog's session of 2010: harvested records are read and curated."""

import ast
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from recordsilo import Silo

PREFIX = "oai:eprints.example.net:"
FULL = PREFIX + "417"


def test_a_harvested_record_is_curated_as_in_the_blog(
    tmp_path: Path,
    harvest: Callable[..., str],
    monkeypatch: object,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    storage = str(tmp_path / "eprints")
    address = "http://eprints.example.net/cgi/oai2"
    with Silo(storage, address, identifier_uri_prefix=PREFIX, base_oai_url=address) as maker:
        harvest(maker, FULL, sets=("74797065733D626F6F6B",), title="Über Möwen")
        harvest(maker, PREFIX + "418", date="2005-01-01T00:00:00")

    with Silo(storage) as s:
        assert ast.literal_eval(repr(s.state)) == {
            "storage_dir": storage,
            "uri_base": address,
            "identifier_uri_prefix": PREFIX,
            "base_oai_url": address,
        }
        assert len(s) == 2
        obj = s.get_item(FULL)
        shown = ast.literal_eval(repr(obj))
        assert shown.pop("versionlog").keys() == {"1"}
        assert shown == {
            "item_id": FULL,
            "files": {"1": ["oai_dc"]},
            "subdir": {"1": []},
            "versions": ["1"],
            "currentversion": "1",
            "date": "2004-06-24T00:00:00",
            "version_dates": {"1": "2004-06-24T00:00:00"},
            "metadata_files": {"1": ["oai_dc"]},
            "metadata": {
                "identifier": FULL,
                "firstSeen": "2004-06-24T00:00:00",
                "setSpec": ["74797065733D626F6F6B"],
            },
        }
        assert (obj.files, obj.versions) == (["oai_dc"], ["1"])

        assert obj.clone_version("1", "workingcopy") == "workingcopy"
        assert (obj.versions, obj.currentversion) == (["1", "workingcopy"], "workingcopy")
        assert obj.set_version_cursor("1") is True
        assert obj.files == ["oai_dc"]
        assert obj.set_version_cursor("workingcopy") is True
        with obj.get_stream("oai_dc") as f:
            root = etree.fromstring(f.read())
        assert root.tag == "{http://www.openarchives.org/OAI/2.0/}metadata"
        assert "".join(root.itertext()) == "Über Möwen"

        obj.put_stream("foo.txt", "some text")
        (tmp_path / "README").write_text("Grüße", encoding="utf-8")
        with open(tmp_path / "README", encoding="utf-8") as file:
            obj.put_stream("README", file)
        assert obj.files == ["oai_dc", "foo.txt", "README"]
        obj.set_version_cursor("1")
        assert obj.files == ["oai_dc"]

        place = tmp_path / "eprints/pairtree_root/oa/i+/ep/ri/nt/s,/ex/am/pl/e,/ne/t+/41/7"
        assert sorted(os.listdir(place)) == [
            "__1", "__manifest.json", "__manifest.json.prev", "__workingcopy",
        ]  # fmt: skip
        assert sorted(os.listdir(place / "__workingcopy")) == ["README", "foo.txt", "oai_dc"]
        assert (place / "__workingcopy/README").read_text(encoding="utf-8") == "Grüße"

    script = (
        "import sys; from recordsilo import Silo\n"
        "with Silo(sys.argv[1]) as s: o = s['417']; print(o.currentversion, o.files, len(s))"
    )
    assert run_python(script, storage).stdout == ("workingcopy ['oai_dc', 'foo.txt', 'README'] 2\n")

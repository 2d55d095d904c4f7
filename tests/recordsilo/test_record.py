"""The interface of 2010 as we read it: arguments, results, refusals."""

import ast
import inspect
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import HarvestedRecord, Origin, Silo
from recordsilo.errors import (
    FileInTheWay,
    FileNotInVersion,
    MetadataMalformed,
    RecordNotFound,
    RecordSiloError,
    VersionFrozen,
    VersionNotFound,
)
from recordsilo.records.place import RecordPlace
from recordsilo.records.streams import Source

Harvest = Callable[..., str]


@pytest.fixture
def record(silo: Silo) -> HarvestedRecord:
    return silo.get_item("a")


def read(record: HarvestedRecord, name: str, version: str | None = None) -> bytes:
    with record.get_stream(name, version) as stream:
        return stream.read()


# -- streams ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "stored"),
    [
        ("Grüße\r\n", "Grüße\r\n".encode()),
        (b"\0\xff", b"\0\xff"),
        (bytearray(b"xy"), b"xy"),
        (memoryview(b"xyz")[1:], b"yz"),
        (io.BytesIO(b"binary"), b"binary"),
        (io.StringIO("tęxt"), "tęxt".encode()),
        ("", b""),
    ],
)
def test_every_kind_of_source_is_stored(
    record: HarvestedRecord, source: object, stored: bytes
) -> None:
    assert record.put_stream("f", source) is None
    assert read(record, "f") == stored
    assert record.file_info("f").size == len(stored)


def test_open_file_is_read_from_its_start(record: HarvestedRecord, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")
    with open(tmp_path / "x", "rb") as file:
        file.read(5)
        record.put_stream("f", file)
    assert read(record, "f") == b"0123456789"


def test_pipe_is_read_from_where_it_is(record: HarvestedRecord) -> None:
    source, target = os.pipe()
    with os.fdopen(target, "wb") as file:
        file.write(b"through a pipe")
    with os.fdopen(source, "rb") as file:
        record.put_stream("f", file)
    assert read(record, "f") == b"through a pipe"


def test_source_that_has_nothing_now_is_not_taken_for_its_end(record: HarvestedRecord) -> None:
    class NonBlocking:
        def read(self, size: int = -1) -> None:
            return None

    with pytest.raises(Exception, match="NoneType"):
        record.put_stream("f", NonBlocking())
    assert not record.exists


def test_large_source_is_stored_in_chunks(record: HarvestedRecord) -> None:
    content = os.urandom(3 << 20) + b"end"
    record.put_stream("f", io.BytesIO(content))
    assert read(record, "f") == content


def test_third_argument_that_is_a_bool_is_metadata(record: HarvestedRecord) -> None:
    record.put_stream("m", "<x/>", True)
    record.put_stream("n", "x", False)
    record.put_stream("o", "<x/>", "1", True)
    assert record.metadata_files == {"1": ["m", "o"]}


def test_file_put_again_stays_metadata_unless_told(record: HarvestedRecord) -> None:
    record.put_stream("m", "<x/>", True)
    record.put_stream("m", "<y/>")
    assert record.metadata_files == {"1": ["m"]}
    record.put_stream("m", "z", False)
    assert record.metadata_files == {"1": []}


@pytest.mark.parametrize(
    "content", ["no xml", b"", io.BytesIO(b"<dc><title></dc>"), "<!DOCTYPE a><a/>"]
)
def test_metadata_that_cannot_be_read_is_not_put(record: HarvestedRecord, content: Source) -> None:
    record.put_stream("oai_dc", "<dc/>", metadata=True)
    for metadata, sync in ((None, True), (True, True), (None, False)):
        with pytest.raises(MetadataMalformed, match=r"'oai_dc' .*; nothing was stored"):
            record.put_stream("oai_dc", content, None, metadata, sync)
    with pytest.raises(MetadataMalformed, match="'new'"):
        record.put_stream("new", content, metadata=True)
    with (
        pytest.raises(MetadataMalformed),
        record.get_stream("oai_dc", writeable=True) as stream,
    ):
        stream.write(b"<more/>")
    record.revert()
    assert (read(record, "oai_dc"), record.files) == (b"<dc/>", ["oai_dc"])


def test_what_is_no_metadata_or_not_xml_by_its_name_may_be_anything(
    record: HarvestedRecord,
) -> None:
    record.put_stream("foo.txt", "no xml", metadata=True)
    record.put_stream("dc.json", "{}", metadata=True)
    record.put_stream("notes", "no xml")
    record.put_stream("oai_dc", "no xml", metadata=False)
    assert record.metadata_files == {"1": ["foo.txt", "dc.json"]}
    with pytest.raises(MetadataMalformed):
        record.rename_stream("foo.txt", "mods.xml")
    record.rename_stream("foo.txt", "bar.txt")
    assert record.metadata_files == {"1": ["dc.json", "bar.txt"]}


def test_metadata_edited_on_disk_is_accepted_only_if_it_can_be_read(
    record: HarvestedRecord,
) -> None:
    record.put_stream("oai_dc", "<dc/>", metadata=True)
    Path(record.to_dirpath("oai_dc")).write_text("<dc>")
    with pytest.raises(MetadataMalformed, match="not well-formed"):
        record.accept("oai_dc")
    Path(record.to_dirpath("oai_dc")).write_text("<dc>new</dc>")
    record.accept("oai_dc")
    assert record.file_info("oai_dc").size == 12


def test_files_keep_the_order_in_which_they_were_put(record: HarvestedRecord) -> None:
    for name in ("z", "b", "docs/x", "a", "b", "docs/y"):
        record.put_stream(name, "x")
    assert record.files == ["z", "b", "docs", "a"]
    assert record.paths() == ["z", "b", "docs/x", "a", "docs/y"]


def test_stream_is_binary_and_closes_itself(record: HarvestedRecord) -> None:
    record.put_stream("f", "x")
    with record.get_stream("f") as stream:
        assert stream.read() == b"x"
        assert stream.seek(0) == 0
    assert stream.closed


def test_writeable_stream_is_stored_when_it_is_closed(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("f.txt", "old", True)
    with record.get_stream("f.txt", writeable=True) as stream:
        assert stream.read() == b"old"
        stream.write(b" and new")
        assert read(silo["a"], "f.txt") == b"old"
    assert read(silo["a"], "f.txt") == b"old and new"
    assert silo["a"].metadata_files == {"1": ["f.txt"]}
    stream = record.get_stream("f.txt", writeable=True)
    stream.seek(0)
    stream.truncate()
    stream.write(b"anew")
    stream.close()
    stream.close()
    assert read(silo["a"], "f.txt") == b"anew"
    assert record.file_info("f.txt").size == 4
    assert os.listdir(silo.staging.directory()) == []


def test_writeable_stream_left_by_an_exception_stores_nothing(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.put_stream("f", "old")
    with pytest.raises(ZeroDivisionError), record.get_stream("f", writeable=True) as stream:
        stream.write(bytes(1 // 0))
    stream = record.get_stream("f", writeable=True)
    stream.write(b"forgotten")
    del stream
    assert read(silo["a"], "f") == b"old"
    assert os.listdir(silo.staging.directory()) == []


def test_queued_files_are_stored_together_by_sync(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("one", "1", sync=False)
    record.put_stream("two.txt", "2", metadata=True, sync=False)
    record.put_stream("one", "1 again", sync=False)
    assert "a" not in silo
    record.sync()
    again = silo["a"]
    assert (again.files, again.metadata_files, again.revision) == (
        ["one", "two.txt"], {"1": ["two.txt"]}, 1,
    )  # fmt: skip
    assert read(again, "one") == b"1 again"
    record.put_stream("three", "3", sync=False)
    record.revert()
    record.sync()
    assert silo["a"].files == ["one", "two.txt"]
    assert os.listdir(silo.staging.directory()) == []


def test_file_and_directory_are_not_put_over_each_other(record: HarvestedRecord) -> None:
    record.put_stream("docs/a", "x")
    record.put_stream("f", "x")
    for path in ("docs", "f/x", "docs/a/b/c"):
        with pytest.raises(FileInTheWay, match="in the way"):
            record.put_stream(path, "y")
        with pytest.raises(FileInTheWay):
            record.rename_stream("f", path)
    assert record.paths() == ["docs/a", "f"]


def test_something_of_the_users_own_is_in_the_way_and_stays(record: HarvestedRecord) -> None:
    record.put_stream("f", "x")
    own = f"{record.to_dirpath()}/notes"
    os.mkdir(own)
    Path(own, "mine.txt").write_text("mine")
    with pytest.raises(FileInTheWay):
        record.put_stream("notes", "y")
    os.symlink("/etc", f"{record.to_dirpath()}/out")
    with pytest.raises(FileInTheWay):
        record.put_stream("out/passwd", "y")
    assert os.listdir(own) == ["mine.txt"]
    assert not [name for name in os.listdir(record.to_dirpath()) if name.startswith(".silo-")]
    record.put_stream("g", "z")
    assert record.files == ["f", "g"]


def test_file_is_renamed_and_stays_metadata(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("m", "<x/>", True)
    record.rename_stream("m", "docs/n")
    again = silo["a"]
    assert (again.paths(), again.metadata_files) == (["docs/n"], {"1": ["docs/n"]})
    assert read(again, "docs/n") == b"<x/>"
    record.put_stream("o", "y")
    with pytest.raises(FileInTheWay):
        record.rename_stream("o", "docs/n")
    with pytest.raises(FileNotInVersion):
        record.rename_stream("nope", "x")


def test_file_gone_from_the_disk_is_told(record: HarvestedRecord) -> None:
    record.put_stream("f", "x")
    os.unlink(record.to_dirpath("f"))
    with pytest.raises(FileNotInVersion, match="restore it from a backup"):
        record.get_stream("f")
    os.mkdir(record.to_dirpath("f"))
    with pytest.raises(FileNotInVersion, match="restore it from a backup"):
        record.file_info("f")


# -- what is shown ----------------------------------------------------------------------


def test_what_is_shown_are_the_keys_of_2010_only(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("f", "x")
    shown = ast.literal_eval(repr(silo["a"]))
    assert not {"digests", "origins", "revision", "format", "pending"} & set(shown)
    with open(f"{record.path_to_item()}/__manifest.json", encoding="utf-8") as file:
        stored = json.load(file)
    assert {"digests", "origins", "revision", "format"} <= set(stored)
    assert {key: stored[key] for key in shown} == shown


def test_metadata_and_state_are_shown_as_dict_literals(silo: Silo, record: HarvestedRecord) -> None:
    record.metadata["x"] = ["y"]
    assert ast.literal_eval(repr(record.metadata)) == {"x": ["y"]}
    assert ast.literal_eval(repr(silo.state)) == {
        "storage_dir": silo.storage_dir,
        "uri_base": "info:",
    }


def test_storage_dir_is_as_the_caller_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for written in ("./here", "../" + tmp_path.name + "/here", "here"):
        with Silo(written) as silo:
            assert silo.state["storage_dir"] == silo.storage_dir == written
            assert silo.path == str(tmp_path / "here")


def test_dates_made_here_have_microseconds_and_no_zone(record: HarvestedRecord) -> None:
    record.sync()
    assert len(record.date) == len("2004-06-24T00:00:00.000000")
    record.increment_version()
    assert record.version_date("1") < record.date
    record.clone_version("1", "wc")
    assert record.date == record.version_date("1")


def test_cursor_is_the_handles_own_until_the_next_write(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.create_new_version("2")
    record.set_version_cursor("1")
    assert record.get_version_cursor() == "1"
    assert silo["a"].currentversion == "2"
    record.sync()
    assert silo["a"].currentversion == "1"
    assert silo["a"].get_versions() == ["1", "2"]


def test_uri_and_places(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("d/f", "x")
    assert record.uri == "info:a"
    assert record.path_to_item() == f"{silo.path}/pairtree_root/a"
    assert record.to_dirpath() == f"{silo.path}/pairtree_root/a/__1"
    assert record.to_dirpath("d/f") == f"{silo.path}/pairtree_root/a/__1/d/f"
    assert record.to_dirpath(root=True) == record.path_to_item()
    assert os.path.isfile(record.to_dirpath("d/f"))


def test_agent_and_message_are_kept(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("f", "x", agent="Ada", message="first light")
    assert record.versionlog[-1].startswith("Added or updated file f [")
    assert record.versionlog[-1].endswith(" Ada: first light]")
    record.clone_version("1", "wc", agent="Bob", message="to mend")
    origin = record.origin()
    assert (origin.kind, origin.of, origin.agent, origin.message) == (
        "clone",
        "1",
        "Bob",
        "to mend",
    )
    record.increment_version(message="more")
    assert (record.origin().agent, record.origin().message) == (silo.agent, "more")
    for change in (
        lambda: record.put_stream("g", "x", message="why"),
        lambda: record.rename_stream("g", "h", message="why"),
        lambda: record.del_stream("h", message="why"),
        lambda: record.copy_file_between_versions("f", "1", record.currentversion, message="why"),
        lambda: record.set_version_date(record.currentversion, "2010-01-01", message="why"),
        lambda: record.rename_version(record.currentversion, "new", message="why"),
    ):
        change()
        assert record.versionlog[-1].endswith(f"{silo.agent}: why]")
    record.create_new_version("extra", message="why")
    assert record.origin().message == "why"
    record.del_version("extra", message="why")
    assert record.versionlog[-1].startswith("Deleted version extra")
    record.metadata["k"] = 1
    record.sync(message="noted")
    assert record.versionlog[-1].endswith("noted]")


# -- frozen -----------------------------------------------------------------------------


def test_harvested_version_is_frozen_from_its_first_day(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h")
    record = silo["h"]
    assert record.is_frozen()
    with pytest.raises(VersionFrozen, match=r"clone_version\('1', 'workingcopy'\)"):
        record.put_stream("note", "x")
    with pytest.raises(VersionFrozen, match="create_new_version"):
        record.put_stream("oai_dc", "x", sync=False)
    record.clone_version("1", "wc")
    record.put_stream("note", "x")
    assert record.is_frozen("1")
    assert not record.is_frozen("wc")
    record.del_version("wc")
    assert record.is_frozen("1")


def test_version_of_2010_is_open_until_it_is_cloned(silo: Silo) -> None:
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
        edit.put("1", "oai_dc", b"<dc/>")
    record = silo["h"]
    assert not record.is_frozen()
    record.put_stream("note", "x")
    record.clone_version("1", "wc")
    assert record.is_frozen("1")


def test_frozen_version_refuses_every_change_and_says_what_to_do(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "h")
    record = silo["h"]
    record.clone_version("1", "wc")
    before = (record.manifest, read(record, "oai_dc", "1"))
    for change in (
        lambda: record.put_stream("new", "x", "1"),
        lambda: record.put_stream("oai_dc", "x", "1"),
        lambda: record.del_stream("oai_dc", "1"),
        lambda: record.rename_stream("oai_dc", "x", "1"),
        lambda: record.copy_file_between_versions("oai_dc", "wc", "1"),
        lambda: record.get_stream("oai_dc", "1", writeable=True),
        lambda: record.rename_version("1", "x"),
        lambda: record.del_version("1"),
        lambda: record.set_version_date("1", "2010-01-01"),
    ):
        with pytest.raises(VersionFrozen, match=r"clone_version\('1', 'workingcopy'\)"):
            change()
    record.revert()
    assert (record.manifest, read(record, "oai_dc", "1")) == before
    assert os.listdir(silo.staging.directory()) == []


def test_directory_does_not_take_the_place_of_a_frozen_version(
    silo: Silo, harvest: Harvest, tmp_path: Path
) -> None:
    harvest(silo, "h")
    silo["h"].clone_version("1", "wc")
    (tmp_path / "source").mkdir()
    with pytest.raises(VersionFrozen):
        silo["h"].move_directory_as_new_version(str(tmp_path / "source"), "1", force=True)
    assert (tmp_path / "source").exists()


def test_what_was_changed_in_a_working_copy_by_an_editor_is_served(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "h")
    record = silo["h"]
    record.clone_version("1", "wc")
    with open(record.to_dirpath("oai_dc", "wc"), "w", encoding="utf-8") as file:
        file.write("edited in place")
    assert read(silo["h"], "oai_dc") == b"edited in place"
    assert read(silo["h"], "oai_dc", "1") != b"edited in place"
    assert silo["h"].file_info("oai_dc").size == len("edited in place")
    record.clone_version("wc", "wc2")
    assert read(silo["h"], "oai_dc") == b"edited in place"


# -- identifiers ------------------------------------------------------------------------


@pytest.fixture
def prefixed(tmp_path: Path) -> Silo:
    return Silo(str(tmp_path / "p"), identifier_uri_prefix="oai:x:")


def test_short_identifier_finds_the_record_everywhere(prefixed: Silo) -> None:
    with prefixed as silo:
        silo.get_item("oai:x:6102").put_stream("f", "x")
        assert "6102" in silo
        assert silo.exists("6102")
        assert silo["6102"].item_id == silo.get_item("6102").item_id == "oai:x:6102"
        assert silo.row("6102").identifier == "oai:x:6102"
        silo.del_item("6102")
        assert list(silo) == []


def test_full_match_wins(prefixed: Silo) -> None:
    with prefixed as silo:
        silo.get_item("oai:x:7").sync()
        silo.get_item("7", force=True).sync()
        assert silo["7"].item_id == "7"
        silo.del_item("7")
        assert silo["7"].item_id == "oai:x:7"
        assert silo.get_item("7", force=True).item_id == "7"


def test_identifier_found_under_neither_form_is_made_as_given(prefixed: Silo) -> None:
    with prefixed as silo:
        silo.get_item("8").sync()
        assert list(silo) == ["8"]


def test_uri_base_is_a_prefix_too_as_in_2010(silo: Silo) -> None:
    silo.get_item("info:gulls").sync()
    assert silo["gulls"].item_id == "info:gulls"


def test_identifier_is_resolved_in_full_short_and_url_form(prefixed: Silo) -> None:
    with prefixed as silo:
        silo.get_item("oai:x:a/b").sync()
        for text in ("oai:x:a/b", "a/b", "oai+x+a=b", "a=b"):
            assert silo.resolve(text) == "oai:x:a/b"
        for text in ("nope", "", "\ud800", "^zz", "x" * 9000):
            with pytest.raises(RecordNotFound):
                silo.resolve(text)


def test_unknown_versions_are_told_with_those_there_are(record: HarvestedRecord) -> None:
    record.sync()
    record.create_new_version("draft")
    for ask in (record.origin, record.version_is_curated, record.version_date, record.paths):
        with pytest.raises(VersionNotFound, match="it has 1, draft"):
            ask("nope")
    with pytest.raises(KeyError):
        record.version_log("nope")


# -- the interface ----------------------------------------------------------------------

MUTATIONS = (
    "sync", "put_stream", "del_stream", "rename_stream", "copy_file_between_versions",
    "create_new_version", "increment_version", "increment_version_delta", "clone_version",
    "clone_version_delta", "rename_version", "del_version", "del_versions", "set_version_date",
    "move_directory_as_new_version",
)  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_takes_who_why_and_at_which_revision(name: str) -> None:
    parameters = inspect.signature(getattr(HarvestedRecord, name)).parameters
    for keyword in ("agent", "message", "if_revision"):
        assert parameters[keyword].kind is inspect.Parameter.KEYWORD_ONLY


def test_no_method_takes_only_some_of_them() -> None:
    wanted = {"agent", "message", "if_revision"}
    for name in (name for name in dir(HarvestedRecord) if not name.startswith("_")):
        method = getattr(HarvestedRecord, name)
        if callable(method):
            assert wanted & set(inspect.signature(method).parameters) in (set(), wanted), name


def test_record_deleted_between_finding_and_reading_it_is_not_found(
    silo: Silo, record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.sync()
    monkeypatch.setattr(RecordPlace, "read_manifest", lambda self: None)
    with pytest.raises(RecordNotFound):
        silo["a"]
    assert silo.get("a", "nothing") == "nothing"
    assert list(silo.iteritems()) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc to count them in")
def test_no_operation_leaves_a_descriptor_open(
    silo: Silo, record: HarvestedRecord, tmp_path: Path
) -> None:
    def everything(number: int) -> None:
        name = f"v{number}"
        record.put_stream("f", str(number))
        record.clone_version("1", name)
        record.clone_version_delta(name, name + "d")
        with record.get_stream("f", writeable=True) as stream:
            stream.write(b"more")
        record.rename_stream("f", "g")
        record.del_stream("g")
        record.del_versions([name, name + "d"])
        record.set_version_cursor("1")
        for bad in (
            lambda: record.get_stream("nope"),
            lambda: record.put_stream("f/x", "y"),
            lambda: record.clone_version("1", "1"),
            lambda: record.put_stream("f", 7),
            lambda: record.put_stream("f", "x", if_revision=99999),
            lambda: silo["nope"],
        ):
            with pytest.raises(RecordSiloError):
                bad()
        with silo.batch(["b"]) as batch:
            batch.edit("b").add_version(name, date="2010-01-01", origin=Origin("local"))
        assert len(silo) == 2

    everything(0)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(1, 8):
        everything(number)
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(silo.staging.directory()) == []

"""Series of WARC files: whole records alone, also after a kill, and no secrets."""

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_answers import BODY, HARVEST, URL, answer, only_file, read
from warcio.archiveiterator import ArchiveIterator

from politeweb.answers import Answer
from politeweb.settings import HttpSettings
from politeweb.warc import files
from politeweb.warc.files import WarcName, packed, warc_names, whole_length
from politeweb.warc.pairs import packed_pair
from politeweb.warc.reading import read_exchange_at
from politeweb.warc.writing import ROTATE_AT, WarcFiles


class Recorder(WarcFiles):
    """A series that is closed at the end of a block."""

    def __init__(self, directory, *, about=None, rotate_at=ROTATE_AT):
        super().__init__(str(directory), HARVEST, about or {}, rotate_at)

    def record(self, sent: Answer, asked: str = "x") -> None:
        self.append(packed_pair(sent, {"Silo-Request": asked}, HttpSettings()))

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()


def test_a_flushed_answer_is_in_a_directory_that_is_flushed_too(tmp_path, monkeypatch):
    flushed, fsync = [], os.fsync

    def flush(file):
        flushed.append(os.readlink(f"/proc/self/fd/{file}"))
        fsync(file)

    monkeypatch.setattr(os, "fsync", flush)
    directory = tmp_path / "harvests"
    for _ in range(2):  # the second one goes on with the file
        flushed.clear()
        with Recorder(directory) as recorder:
            recorder.record(answer())
            recorder.flush()
        assert flushed == [str(directory), str(tmp_path), str(only_file(directory))]


def test_what_is_said_of_chunks_does_not_make_the_content_unreadable(tmp_path):
    sent = answer(headers={"transfer-encoding": "chunked", "content-length": "7"})
    with Recorder(tmp_path) as recorder:
        recorder.record(sent)
    with only_file(tmp_path).open("rb") as file:
        [content] = [
            record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        ]
    assert content == BODY


def test_no_secret_is_kept(tmp_path, monkeypatch):
    sent = answer(
        url=URL.replace("//", "//user:hunter2@"),
        headers={"set-cookie": "id=hunter2", "Authorization": "hunter2", "x": "one\r\n y: two"},
    )
    monkeypatch.setattr(
        HttpSettings,
        "headers",
        property(lambda _: {"User-Agent": "me", "Authorization": "hunter2", "Cookie": "hunter2"}),
    )
    about = {"base-url": "http://user:hunter2@repo.example/oai"}
    with Recorder(tmp_path, about=about) as recorder:
        recorder.record(sent)
    plain = gzip.decompress(only_file(tmp_path).read_bytes())
    assert b"hunter2" not in plain
    assert b"User-Agent: me\r\n" in plain
    assert b"x: one y: two\r\n" in plain


def test_a_page_sent_compressed_is_kept_as_sent(tmp_path):
    packed = gzip.compress(BODY)
    sent = answer(
        raw=packed, headers={"content-encoding": "gzip", "content-length": str(len(packed))}
    )
    with Recorder(tmp_path) as recorder:
        recorder.record(sent)
    *_, (response, content) = read(only_file(tmp_path))
    assert content == packed
    assert response.http.get_header("content-encoding") == "gzip"
    assert response.field("Silo-Metadata-Prefix") is None


def test_files_are_rotated_and_counted_on(tmp_path):
    for _ in range(2):
        with Recorder(tmp_path, rotate_at=1) as recorder:
            recorder.record(answer())
            recorder.record(answer())
    names = warc_names(str(tmp_path), HARVEST)
    assert [one.number for one in names] == [1, 2, 3, 4]
    assert [len(list(read(tmp_path / str(one)))) for one in names] == [3, 3, 3, 3]


def test_two_recorders_of_one_harvest_never_share_a_file(tmp_path):
    with (
        Recorder(tmp_path) as one,
        Recorder(tmp_path) as two,
    ):
        one.record(answer())
        two.record(answer())
        one.record(answer())
    first, second = (tmp_path / str(name) for name in warc_names(str(tmp_path)))
    assert (len(list(read(first))), len(list(read(second)))) == (5, 3)


def test_nothing_is_made_before_the_first_answer(tmp_path):
    with Recorder(tmp_path / "harvests"):
        pass
    assert not (tmp_path / "harvests").exists()
    assert warc_names(str(tmp_path / "harvests")) == []


def test_files_of_others_are_not_ours():
    assert WarcName.parse("crawl.warc.gz") is None
    assert WarcName.parse(f"{HARVEST}-receipt.json") is None
    assert WarcName.parse(f"{HARVEST}-00012.warc.gz") == WarcName(HARVEST, 12)


def test_many_threads_write_whole_pairs(tmp_path):
    with Recorder(tmp_path, rotate_at=4000) as recorder:

        def work(number: int) -> None:
            for page in range(20):
                recorder.record(answer(body=os.urandom(300)), f"{number}-{page}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    seen: list[str] = []
    for name in warc_names(str(tmp_path)):
        records = [record for record, _ in read(tmp_path / str(name))][1:]
        pairs = [one.field("Silo-Request") for one in records]
        assert pairs[::2] == pairs[1::2]
        seen += pairs[::2]
    assert sorted(seen) == sorted(f"{t}-{p}" for t in range(4) for p in range(20))


def test_a_full_disk_leaves_only_whole_records(tmp_path, monkeypatch):
    with Recorder(tmp_path) as recorder:
        recorder.record(answer())
        real, calls = os.write, []

        def full(file: int, content: bytes) -> int:
            if calls:
                raise OSError(28, "No space left on device")
            calls.append(1)
            return real(file, bytes(content)[:100])

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            recorder.record(answer())
        monkeypatch.undo()
        recorder.record(answer())
    assert len(list(read(only_file(tmp_path)))) == 5


def members(*contents: bytes) -> list[bytes]:
    found = []
    for number, content in enumerate(contents):
        pieces = packed([b"WARC/1.1\r\n", content], packs=number % 2 == 0)
        found.append(b"".join(pieces))
    return found


@given(
    st.lists(st.binary(max_size=300) | st.binary(max_size=300).map(gzip.compress), min_size=1),
    st.data(),
)
def test_what_is_whole_is_kept_wherever_a_file_is_cut(contents, data):
    whole = members(*contents)
    cut = data.draw(st.integers(0, len(whole[-1]) - 1))
    before = b"".join(whole[:-1])
    torn = before + whole[-1][:cut]
    assert whole_length(BytesIO(before + whole[-1])) == len(before + whole[-1])
    assert whole_length(BytesIO(torn)) == len(before)
    assert whole_length(BytesIO(before + b"\0" * cut)) == len(before)


@pytest.mark.parametrize("machine", ["with ISA-L", "without"])
def test_what_is_packed_is_read_whatever_the_machine_packs_with(machine, monkeypatch):
    if machine == "without":
        monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
        assert files._fastest() is zlib.compressobj
    monkeypatch.setattr(files, "_FASTEST", files._fastest())
    whole = members(BODY, b"", BODY)
    assert [gzip.decompress(one)[10:] for one in whole] == [BODY, b"", BODY]
    assert len(whole[0]) < len(BODY) < len(gzip.decompress(whole[0]))
    assert whole_length(BytesIO(b"".join(whole) + whole[0][:-1])) == len(b"".join(whole))


def test_a_long_last_record_is_found_behind_its_end():
    first, long = members(b"first", os.urandom(3_000_000))
    assert whole_length(BytesIO(first + long)) == len(first + long)
    assert whole_length(BytesIO(first + long[:-1])) == len(first)


WRITER = """
import os, sys
from politeweb.answers import Answer
from politeweb.settings import HttpSettings
from politeweb.warc.pairs import packed_pair
from politeweb.warc.reading import read_exchange_at
from politeweb.warc.writing import WarcFiles
files = WarcFiles(sys.argv[1], sys.argv[2], {})
for number in range(10**9):
    answer = Answer(os.urandom(400_000), "http://r.example/")
    files.append(packed_pair(answer, {}, HttpSettings()))
    print(number, flush=True)
"""


@pytest.mark.long
def test_a_killed_process_leaves_what_readers_can_read_and_the_next_goes_on(tmp_path):
    told = 0
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, str(tmp_path), HARVEST]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            told += 1 + len(process.stdout.read().splitlines())
        kinds = []
        with only_file(tmp_path).open("rb") as file:
            kinds += [record.rec_type for record in ArchiveIterator(file)]
        assert kinds.count("request") >= told
    with Recorder(tmp_path) as recorder:
        recorder.record(answer())
    kinds = [record.kind for record, _ in read(only_file(tmp_path))]
    assert kinds.count("warcinfo") == 1
    assert kinds.count("response") >= told + 1


def test_a_file_that_is_ended_is_on_the_medium_and_is_not_gone_on_with(tmp_path, monkeypatch):
    with Recorder(tmp_path) as recorder:
        recorder.end_file()
        assert list(tmp_path.iterdir()) == [], "nothing was recorded yet"
        recorder.record(answer())
        flushed, fsync = [], os.fsync

        def flush(file):
            flushed.append(os.readlink(f"/proc/self/fd/{file}"))
            fsync(file)

        monkeypatch.setattr(os, "fsync", flush)
        recorder.end_file()
        recorder.end_file()
        assert flushed == [str(only_file(tmp_path))]
        recorder.record(answer())
        recorder.record(answer())
    names = warc_names(str(tmp_path))
    assert [one.number for one in names] == [1, 2]
    assert [len(list(read(tmp_path / str(one)))) for one in names] == [3, 5]


def test_a_file_that_grew_too_long_is_on_the_medium_before_the_next_one(tmp_path, monkeypatch):
    with Recorder(tmp_path, rotate_at=1) as recorder:
        recorder.record(answer())
        flushed, fsync = [], os.fsync

        def flush(file):
            flushed.append(os.path.basename(os.readlink(f"/proc/self/fd/{file}")))
            fsync(file)

        monkeypatch.setattr(os, "fsync", flush)
        recorder.record(answer())
    assert flushed[0] == str(WarcName(HARVEST, 1))


def test_where_records_begin_is_told_and_read_from_there(tmp_path):
    bodies = [b"first", b"second", b"third"]
    with Recorder(tmp_path) as recorder:
        places = [
            recorder.append(packed_pair(answer(body=body), {}, HttpSettings())) for body in bodies
        ]
    for (name, place), body in zip(places, bodies, strict=True):
        assert read_exchange_at(str(tmp_path / name), place).body == body


def test_a_file_of_half_a_first_record_begins_again_with_what_it_is(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.record(answer())
    path = only_file(tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    with Recorder(tmp_path) as recorder:
        recorder.record(answer())
    assert [record.kind for record, _ in read(path)] == ["warcinfo", "request", "response"]


def test_what_a_kill_left_is_cut_off_before_more_is_recorded(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.record(answer())
        recorder.record(answer())
    path = only_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    with Recorder(tmp_path) as recorder:
        recorder.record(answer(body=b"after"))
    kinds = [(record.kind, content[-5:]) for record, content in read(path)]
    assert [kind for kind, _ in kinds].count("response") == 2
    assert kinds[-1] == ("response", b"after")


def test_names_sort_in_the_order_of_writing():
    names = [WarcName(HARVEST, number) for number in (100_000, 2, 99_999, 1)]
    assert [one.number for one in sorted(names)] == [1, 2, 99_999, 100_000]
    assert str(names[1]) == f"{HARVEST}-00002.warc.gz"
    for one in names[1:]:
        assert WarcName.parse(str(one)) == one
    for name in (f"{HARVEST}-0002.warc.gz", f"x{HARVEST}-00002.warc.gz", f"{HARVEST}-00002.warc"):
        assert WarcName.parse(name) is None


def test_a_directory_of_several_harvests_lists_one_or_all(tmp_path):
    later = "20271121T211331.123456Z"
    for name in (WarcName(later, 1), WarcName(HARVEST, 2), WarcName(HARVEST, 1)):
        (tmp_path / str(name)).touch()
    (tmp_path / "notes.txt").touch()
    assert warc_names(str(tmp_path), HARVEST) == [WarcName(HARVEST, 1), WarcName(HARVEST, 2)]
    assert warc_names(str(tmp_path))[-1] == WarcName(later, 1)


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.booleans())
def test_the_next_record_is_found_and_no_page_is_taken_for_one(contents, is_packed):
    records = [b"WARC/1.1\r\n\r\n" + gzip.compress(content) + b"\n" for content in contents]
    whole = [gzip.compress(one) for one in records] if is_packed else records
    file = BytesIO(b"".join(whole))
    begins = [len(b"".join(whole[:number])) for number in range(len(whole))]
    found, at = [], 1
    while (begin := files.next_record(file, at)) is not None:
        found.append(begin)
        at = begin + 1
    assert found == begins[1:]


def test_each_file_of_a_series_is_filled_and_its_places_are_its_own(tmp_path):
    records = [packed_pair(answer(body=os.urandom(900)), {}, HttpSettings()) for _ in range(9)]
    size = len(records[0])
    with Recorder(tmp_path, rotate_at=3 * size) as recorder:
        places = [recorder.append(one) for one in records]
    names = [str(one) for one in warc_names(str(tmp_path))]
    assert [name for name, _ in places] == [name for name in names for _ in range(3)]
    for (name, place), record in zip(places, records, strict=True):
        assert (tmp_path / name).read_bytes()[place : place + len(record)] == record

"""Responses as received: the content of the WARC files, also after a kill."""

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from oaipmhscraper.warc.responses import RecordingTransport, ResponseRecorder
from politeweb.answers import Answer
from politeweb.settings import HttpSettings
from politeweb.warc import files
from politeweb.warc.files import WarcName, packed, warc_names, whole_length

HARVEST = "20261121T211331.123456Z"
PARAMS = {"verb": "ListRecords", "resumptionToken": "a+b c|d"}
URL = "https://repo.example/oai?verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"
BODY = b"<OAI-PMH>" + b"<record>some text</record>" * 200 + b"</OAI-PMH>"
RECEIVED = datetime(2026, 11, 21, 21, 13, 31, 123456, tzinfo=UTC)


def answer(**more) -> Answer:
    return Answer(**{"body": BODY, "url": URL, "received": RECEIVED} | more)


def read(path: Path) -> Iterator[tuple[SimpleNamespace, bytes]]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            content = record.raw_stream.read()
            field = record.rec_headers.get_header
            yield (
                SimpleNamespace(kind=record.rec_type, field=field, http=record.http_headers),
                content,
            )


def only_file(directory: Path) -> Path:
    [path] = directory.glob("*.warc.gz")
    return path


def test_a_flushed_answer_is_in_a_directory_that_is_flushed_too(tmp_path, monkeypatch):
    flushed, fsync = [], os.fsync

    def flush(file):
        flushed.append(os.readlink(f"/proc/self/fd/{file}"))
        fsync(file)

    monkeypatch.setattr(os, "fsync", flush)
    directory = tmp_path / "harvests"
    for _ in range(2):  # the second one goes on with the file
        flushed.clear()
        with ResponseRecorder(str(directory), HARVEST, about={}) as recorder:
            recorder.record(PARAMS, answer())
            recorder.flush()
        assert flushed == [str(directory), str(tmp_path), str(only_file(directory))]


def test_each_answer_is_one_request_and_one_response_in_a_checkable_file(tmp_path):
    with ResponseRecorder(str(tmp_path), HARVEST, about={"agent": "silo harvest"}) as recorder:
        recorder.record(PARAMS, answer(headers={"content-type": "text/xml"}), "oai_dc")
    path = only_file(tmp_path)
    (info, about), (request, asked), (response, content) = read(path)
    assert path.name == f"{HARVEST}-00001.warc.gz"
    assert [info.kind, request.kind, response.kind] == ["warcinfo", "request", "response"]
    assert b"agent: silo harvest\r\n" in about
    assert b"software: recordsilo/" in about
    assert (asked, content) == (b"", BODY)
    assert request.http.protocol == "GET"
    assert request.http.statusline.startswith("/oai?verb=ListRecords&resumptionToken=a%2Bb")
    assert response.http.statusline == "200 OK"
    assert response.http.get_header("content-length") == str(len(BODY))
    for record, other in ((request, response), (response, request)):
        assert record.field("WARC-Concurrent-To") == other.field("WARC-Record-ID")
        assert record.field("WARC-Target-URI") == URL
        assert record.field("WARC-Date") == "2026-11-21T21:13:31.123456Z"
        assert record.field("Silo-Harvest") == HARVEST
        assert record.field("Silo-Metadata-Prefix") == "oai_dc"
        assert record.field("Silo-Request") == "verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"
        assert record.field("WARC-Block-Digest")
    found = Checker(SimpleNamespace(inputs=[str(path)], verbose=False))
    found.process_all()
    assert found.exit_value == 0


def test_a_page_sent_compressed_is_kept_as_sent(tmp_path):
    packed = gzip.compress(BODY)
    sent = answer(
        raw=packed, headers={"content-encoding": "gzip", "content-length": str(len(packed))}
    )
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, sent)
    *_, (response, content) = read(only_file(tmp_path))
    assert content == packed
    assert response.http.get_header("content-encoding") == "gzip"
    assert response.field("Silo-Metadata-Prefix") is None


def test_what_is_said_of_chunks_does_not_make_the_content_unreadable(tmp_path):
    sent = answer(headers={"transfer-encoding": "chunked", "content-length": "7"})
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, sent)
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
    with ResponseRecorder(str(tmp_path), HARVEST, about=about) as recorder:
        recorder.record(PARAMS, sent)
    plain = gzip.decompress(only_file(tmp_path).read_bytes())
    assert b"hunter2" not in plain
    assert b"User-Agent: me\r\n" in plain
    assert b"x: one y: two\r\n" in plain


def test_a_posted_request_is_kept_with_its_form(tmp_path):
    settings = HttpSettings(post=True)
    with ResponseRecorder(str(tmp_path), HARVEST, settings=settings) as recorder:
        recorder.record(PARAMS, answer(url="https://repo.example/oai"))
    _, (request, form), _ = read(only_file(tmp_path))
    assert request.http.protocol == "POST"
    assert form == b"verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"


def test_an_error_page_is_kept_too(tmp_path):
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, answer(status=503, body=b"busy"))
    *_, (response, content) = read(only_file(tmp_path))
    assert (response.http.statusline, content) == ("503 Service Unavailable", b"busy")


def test_files_are_rotated_and_counted_on(tmp_path):
    for _ in range(2):
        with ResponseRecorder(str(tmp_path), HARVEST, rotate_at=1) as recorder:
            recorder.record(PARAMS, answer())
            recorder.record(PARAMS, answer())
    names = warc_names(str(tmp_path), HARVEST)
    assert [one.number for one in names] == [1, 2, 3, 4]
    assert [len(list(read(tmp_path / str(one)))) for one in names] == [3, 3, 3, 3]


def test_two_recorders_of_one_harvest_never_share_a_file(tmp_path):
    with (
        ResponseRecorder(str(tmp_path), HARVEST) as one,
        ResponseRecorder(str(tmp_path), HARVEST) as two,
    ):
        one.record(PARAMS, answer())
        two.record(PARAMS, answer())
        one.record(PARAMS, answer())
    first, second = (tmp_path / str(name) for name in warc_names(str(tmp_path)))
    assert (len(list(read(first))), len(list(read(second)))) == (5, 3)


def test_nothing_is_made_before_the_first_answer(tmp_path):
    with ResponseRecorder(str(tmp_path / "harvests"), HARVEST):
        pass
    assert not (tmp_path / "harvests").exists()
    assert warc_names(str(tmp_path / "harvests")) == []


def test_files_of_others_are_not_ours():
    assert WarcName.parse("crawl.warc.gz") is None
    assert WarcName.parse(f"{HARVEST}-receipt.json") is None
    assert WarcName.parse(f"{HARVEST}-00012.warc.gz") == WarcName(HARVEST, 12)


def test_many_threads_write_whole_pairs(tmp_path):
    with ResponseRecorder(str(tmp_path), HARVEST, rotate_at=4000) as recorder:

        def work(number: int) -> None:
            for page in range(20):
                recorder.record(
                    {"verb": "x", "n": f"{number}-{page}"}, answer(body=os.urandom(300))
                )

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
    assert sorted(seen) == sorted(f"verb=x&n={t}-{p}" for t in range(4) for p in range(20))


def test_a_full_disk_leaves_only_whole_records(tmp_path, monkeypatch):
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, answer())
        real, calls = os.write, []

        def full(file: int, content: bytes) -> int:
            if calls:
                raise OSError(28, "No space left on device")
            calls.append(1)
            return real(file, bytes(content)[:100])

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            recorder.record(PARAMS, answer())
        monkeypatch.undo()
        recorder.record(PARAMS, answer())
    assert len(list(read(only_file(tmp_path)))) == 5


def test_the_transport_records_before_it_hands_over_and_tells_what_the_inner_one_tells(tmp_path):
    class Inner:
        base_url = "https://repo.example/oai"

        def fetch(self, params):
            return answer(body=params["verb"].encode())

    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        transport = RecordingTransport(Inner(), recorder, "oai_dc")
        assert transport.fetch({"verb": "Identify"}).body == b"Identify"
        *_, (_, content) = read(only_file(tmp_path))
        assert content == b"Identify"
        assert transport.base_url == "https://repo.example/oai"
        with pytest.raises(AttributeError):
            transport.no_such_thing  # noqa: B018 # the look-up is what is tested


# --------------------------------------------------------------------------- kills


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
from oaipmhclient.transport.http_rules import Answer
from oaipmhscraper.warc.responses import ResponseRecorder
recorder = ResponseRecorder(sys.argv[1], sys.argv[2])
for number in range(10**9):
    recorder.record({"verb": "x", "n": str(number)}, Answer(os.urandom(400_000), "http://r.example/"))
    print(number, flush=True)
"""


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
    with ResponseRecorder(str(tmp_path), HARVEST) as recorder:
        recorder.record(PARAMS, answer())
    kinds = [record.kind for record, _ in read(only_file(tmp_path))]
    assert kinds.count("warcinfo") == 1
    assert kinds.count("response") >= told + 1

"""WARC and WACZ files of elsewhere: what is taken in, and what is refused."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcs_of_others import by_others

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silocrawl.cdxj import Segments, key_of
from silocrawl.paths import archives_directory, imported_file, index_directory
from silocrawl.taking_in import ImportRefused, TakenIn, take_in

SILO = [sys.executable, "-c", "from recordsilo.cli import main; main()"]
PAGE = ("http://one.example/", {"Content-Type": "text/html"}, b"<p>one")
PAPER = ("http://one.example/a.pdf", {"Content-Type": "application/pdf"}, b"%PDF" + b"x" * 9_000)


def import_command(silo: Silo, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [*SILO, "crawl", "import", silo.path, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def captures(silo: Silo) -> list[dict[str, str]]:
    found = Segments(index_directory(silo.path)).find("", is_prefix=True)
    return [json.loads(line.split(" ", 2)[2]) for line in found]


def body_of(silo: Silo, capture: dict[str, str]) -> bytes:
    with open(Path(archives_directory(silo.path), capture["filename"]), "rb") as file:
        file.seek(int(capture["offset"]))
        some = BytesIO(file.read(int(capture["length"])))
    return bytes(next(iter(ArchiveIterator(some, check_digests="raise"))).content_stream().read())


def names(silo: Silo) -> list[str]:
    return sorted(path.name for path in Path(archives_directory(silo.path)).glob("*"))


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_file_is_copied_and_indexed_once(
    silo: Silo, tmp_path: Path, *, packed: bool
) -> None:
    path = by_others(tmp_path / "x.warc.gz", PAGE, PAPER, packed=packed)
    [done] = take_in(silo.path, str(path))
    assert (done.captures, done.damaged, done.is_new) == (2, 0, True)
    assert [(one["url"], body_of(silo, one)) for one in captures(silo)] == [
        (PAGE[0], PAGE[2]), (PAPER[0], PAPER[2]),
    ]  # fmt: skip
    assert Path(archives_directory(silo.path), done.name).read_bytes() == path.read_bytes()
    [again] = take_in(silo.path, str(path))
    assert again == TakenIn(done.source, done.name, 2, 0, is_new=False)
    assert names(silo) == [done.name]


def test_an_import_that_was_killed_is_done_again(silo: Silo, tmp_path: Path) -> None:
    path = by_others(tmp_path / "x.warc.gz", PAGE, PAPER)
    [done] = take_in(silo.path, str(path))
    Path(imported_file(silo.path)).write_text('{"sha256": "cut o')
    for segment in Path(index_directory(silo.path)).iterdir():
        segment.unlink()
    [again] = take_in(silo.path, str(path))
    assert (again, len(captures(silo))) == (done, 2)
    assert len(Path(imported_file(silo.path)).read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "lines",
    [b"\xff\xfe\n", b"{\n", b'{"a": 1}\n', b"[" * 100_000 + b"\n", b"7\n", b'{"sha256": []}\n'],
)
def test_a_damaged_list_of_imports_is_named(silo: Silo, tmp_path: Path, lines: bytes) -> None:
    path = by_others(tmp_path / "x.warc.gz", PAGE, PAPER)
    [done] = take_in(silo.path, str(path))
    listed = Path(imported_file(silo.path))
    listed.write_bytes(lines)
    with pytest.raises(ImportRefused, match=r"imported\.jsonl is damaged; remove it"):
        next(take_in(silo.path, str(path)))
    listed.unlink()
    assert [*take_in(silo.path, str(path))] == [done]
    assert (len(captures(silo)), names(silo)) == (2, [done.name])


def test_a_list_of_imports_that_is_a_pipe_is_not_waited_for(silo: Silo, tmp_path: Path) -> None:
    listed = Path(imported_file(silo.path))
    listed.parent.mkdir(exist_ok=True)
    os.mkfifo(listed)
    with pytest.raises(OSError, match="not a regular file"):
        next(take_in(silo.path, str(by_others(tmp_path / "x.warc.gz", PAGE))))


def test_a_copy_that_was_removed_is_taken_in_again(silo: Silo, tmp_path: Path) -> None:
    path = by_others(tmp_path / "x.warc.gz", PAGE)
    [done] = take_in(silo.path, str(path))
    Path(archives_directory(silo.path), done.name).unlink()
    assert [*take_in(silo.path, str(path))] == [done]
    assert body_of(silo, captures(silo)[0]) == PAGE[2]


def record(kind: str, url: str, mimetype: str, content: bytes) -> bytes:
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{kind}>\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: {mimetype}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def test_revisits_and_screenshots_are_captures(silo: Silo, tmp_path: Path) -> None:
    shot = f"urn:view:{PAGE[0]}"
    path = tmp_path / "x.warc"
    path.write_bytes(
        record("warcinfo", "urn:info", "application/warc-fields", b"software: other")
        + record("revisit", PAGE[0], "application/http", b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n")
        + record("resource", shot, "image/png", b"PNG")
        + record("metadata", PAGE[0], "text/plain", b"a")
    )
    [done] = take_in(silo.path, str(path))
    assert (done.captures, done.damaged) == (2, 0)
    (one,) = Segments(index_directory(silo.path)).find(key_of(PAGE[0]))
    assert json.loads(one.split(" ", 2)[2])["mime"] == "warc/revisit"
    (one,) = Segments(index_directory(silo.path)).find(key_of(shot))
    assert json.loads(one.split(" ", 2)[2])["mime"] == "image/png"


@pytest.mark.long
def test_what_follows_a_damaged_record_is_taken_in(silo: Silo, tmp_path: Path) -> None:
    path = by_others(tmp_path / "x.warc.gz", PAGE, PAPER, ("http://two.example/", {}, b"2"))
    content = bytearray(path.read_bytes())
    place = content.index(b"\x1f\x8b\x08", content.index(b"\x1f\x8b\x08", 1) + 1)
    content[place + 20 : place + 40] = b"\xff" * 20
    path.write_bytes(content[:-30])
    done = import_command(silo, path)
    assert done.returncode == 1
    assert "2 damaged places; what is whole was taken in" in done.stderr
    assert [one["url"] for one in captures(silo)] == [PAGE[0], "http://two.example/"]


def zipped(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.mark.long
def test_a_wacz_comes_out_as_it_went_in(silo: Silo, tmp_path: Path) -> None:
    take = by_others(tmp_path / "x.warc.gz", PAGE, PAPER).read_bytes()
    first = zipped(tmp_path / "first.wacz", {"archive/x.warc.gz": take, "pages/p.warc.gz": b"no"})
    assert import_command(silo, first).returncode == 0
    out = tmp_path / "out.wacz"
    exported = [*SILO, "export", "wacz", silo.path, str(out)]
    assert subprocess.run(exported, check=False, capture_output=True).returncode == 0
    with Silo(str(tmp_path / "other"), "info:", identifier_uri_prefix="oai:o:") as other:
        done = import_command(other, out)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{out}/archive/data.warc.gz: 2 captures, as imported-" in done.stdout
        assert [body_of(other, one) for one in captures(other)] == [PAGE[2], PAPER[2]]
        assert "which was taken in before" in import_command(other, out).stdout


def _wacz(content: bytes, digest: str) -> Callable[[Path], Path]:
    table = {"resources": [{"path": "archive/a.warc.gz", "hash": digest}]}
    parts = {"archive/a.warc.gz": content, "datapackage.json": json.dumps(table).encode()}
    return lambda path: zipped(path, parts)


def _of(content: bytes) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return make


def _truncated_zip(path: Path) -> Path:
    zipped(path, {"archive/a.warc.gz": b"x" * 999})
    content = path.read_bytes()
    path.write_bytes(content[:20] + content[200:])
    return path


def _cut_zip(path: Path) -> Path:
    path.write_bytes(zipped(path, {"archive/a.warc.gz": b"x" * 999}).read_bytes()[:700])
    return path


def _in_one_member(path: Path) -> Path:
    path.write_bytes(gzip.compress(by_others(path, PAGE, PAPER, packed=False).read_bytes()))
    return path


def _bomb(path: Path) -> Path:
    return zipped(
        path, {"archive/a.warc": b"WARC/1.0\r\n" + bytes(5_000_000)}, zipfile.ZIP_DEFLATED
    )


def _with_another(name: str) -> Callable[[Path], Path]:
    """A WACZ with an archive beside one that is read."""

    def make(path: Path) -> Path:
        warc = by_others(path, PAGE, packed=False).read_bytes()
        return zipped(path, {"archive/a.warc": warc, name: b"x"})

    return make


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: zipped(path, {"a.txt": b"x"}), "is not a WACZ: it has no WARC file"),
        (lambda path: zipped(path, {"archive/../../a.warc": b"x"}), "is not a WACZ"),
        (lambda path: zipped(path, {"archive/a.warc": b"x"}), "is neither a WARC file"),
        (_with_another("archive/b.warc.zst"), "has archive/b.warc.zst, and only .warc and"),
        (_with_another("archive/below/b.warc.gz"), "has archive/below/b.warc.gz, and only"),
        (_with_another("archive/b.ARC.GZ"), "has archive/b.ARC.GZ, and only"),
        (_bomb, "would unpack to more than"),
        (_truncated_zip, "is damaged"),
        (_wacz(b"\x1f\x8b\x08", "sha256:00"), "its SHA-256 is not that of datapackage.json"),
        (_wacz(b"\x1f\x8b\x08", "md5:00"), "is not a WARC file: its first record cannot be read"),
        (_in_one_member, "is compressed as a whole"),
        (_cut_zip, "is cut short: it begins as a WACZ"),
        (_of(b""), "is empty"),
        (_of(b"WARC/1.0\r\n" * 99), "is not a WARC file"),
        (_of(b"\x28\xb5\x2f\xfd"), "is neither a WARC file"),
    ],
)
def test_what_is_no_archive_is_refused(
    silo: Silo, tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    path = make(tmp_path / "bad")
    with pytest.raises(ImportRefused, match=said):
        list(take_in(silo.path, str(path)))
    assert (names(silo), captures(silo)) == ([], [])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad", "silo"]


@pytest.mark.long
def test_one_that_is_refused_does_not_keep_the_others_out(silo: Silo, tmp_path: Path) -> None:
    good, bad = by_others(tmp_path / "x.warc", PAGE, packed=False), tmp_path / "nowhere.warc"
    done = import_command(silo, bad, tmp_path, good)
    assert done.returncode == 1
    assert f"silo: there is no file {bad}\n" in done.stderr
    assert f"silo: {tmp_path} is a directory; name " in done.stderr
    assert len(captures(silo)) == 1
    assert import_command(silo, bad).returncode == 2
    locks = Locks(str(Path(silo.path, ".silo", "locks")))
    with locks.hold_name_if_free("crawl-import"):
        assert "another import into this Silo is running" in import_command(silo, good).stderr


def test_a_wacz_that_cannot_be_unpacked_is_told_and_faults_of_ours_are_not_its(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.wacz"
    warc = by_others(tmp_path / "x.warc.gz", PAGE)
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_STORED):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.write(warc, "archive/x.warc.gz")
        if method == zipfile.ZIP_STORED:  # says of itself that it is encrypted
            content = bytearray(path.read_bytes())
            content[content.index(b"PK\x01\x02") + 8] |= 1
            path.write_bytes(content)
        with pytest.raises(ImportRefused, match="is encrypted, or compressed otherwise"):
            list(take_in(silo.path, str(path)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(warc, "archive/x.warc.gz")

    def fault(*_arguments: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr("silocrawl.taking_in._index", fault)
    with pytest.raises(RuntimeError, match="ours"):
        list(take_in(silo.path, str(path)))

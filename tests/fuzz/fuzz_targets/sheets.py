"""Edited spreadsheets, and the effects of their rows on a record."""

import re
from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from fuzz_targets.rules import DC
from recordsilo.disk.digest import Digest
from recordsilo.records.manifest import Manifest, Origin, Version
from silocuration.batch.spreadsheet import plan_row, read_csv
from silocuration.editing.changes import CannotChange, ReadFile, mark_of
from silocuration.errors import SpreadsheetRefused

_VERSION = Version(
    "1", "2026", Origin("local"), ("oai_dc",), (), ("oai_dc",), (), {"oai_dc": Digest("0" * 64, 1)}
)
_MANIFEST = Manifest("oai:x:1", "2026", "1", (_VERSION,))
_MARK = mark_of(_VERSION)


class Sheets(Target):
    promise = (
        "A spreadsheet is read or refused in a sentence; a row changes its record or says why "
        "not; the same row does nothing more to the record that it changed."
    )
    words = (
        b",", b";", b"\t", b'"', b'""', b"\r\n", b"\r", b"||", b"|\\|", b"|", b"'=", b"'", b"=1+1",
        b"identifier", b"mark", b"title", b"title[en]", b"[", b"]", b"oai:x:1", _MARK.encode(),
        b"\xef\xbb\xbf", b"\x0b", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0c", b"\xef\xbf\xbf",
        b"\xed\xa0\x80", b"dc:title", b"xml:lang", b"\x00", b"\x1f",
    )  # fmt: skip

    def seeds(self) -> Iterable[bytes]:
        rows = ("title,subject,title[en],description", 'A,"a||b|\\|c",\'=x,"two\nlines"')
        sheet = f"identifier,mark,{rows[0]}\noai:x:1,{_MARK},{rows[1]}\n"
        return [sheet.encode("utf-8-sig"), sheet.replace(",", ";").encode(),
                sheet.replace(",", "\t").replace("\n", "\r\n").encode()]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        try:
            rows = read_csv(data)
        except SpreadsheetRefused as error:
            return re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "", str(error))[:40]
        met = set()
        for row in rows[:20]:
            try:
                change = plan_row(_MANIFEST, _reading(DC), row)
            except CannotChange as error:
                met.add(str(error)[:20])
                continue
            except SpreadsheetRefused as error:
                met.add(str(error)[-20:])
                continue
            met.add(change is None)
            if change is not None:
                [file] = change.files
                assert plan_row(_MANIFEST, _reading(file.after), row) is None
        return tuple(sorted(map(str, met)))


def _reading(content: bytes) -> ReadFile:
    return lambda version, path: content

"""What metha asks for and keeps, by its rules (miku/metha, ``harvest.go`` and ``intervals.go``).

metha itself is a Go program that no package registry has. It asks for ListRecords only, month by
month (or day by day) from the earliest datestamp to the end of yesterday, with dates in the
granularity of Identify, keeps each response under gzip, named by the end of its window, and goes
on after the last day that it has.
"""

import gzip
import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path

from lxml import etree

NAME = re.compile(r"(\d{4}-\d\d-\d\d)-\d{8}\.xml\.gz")
LAST_SECOND = time(23, 59, 59)


def sync(base_url: str, prefix: str, place: Path, started: datetime, *, daily: bool) -> int:
    """Harvest what is new until the end of the day before; the number of requests."""
    asked = 0
    identify = ask(base_url, verb="Identify")
    earliest = re.search(rb"<earliestDatestamp>(.{10}).*?<", identify)
    assert earliest is not None
    have = sorted(found[1] for one in place.iterdir() if (found := NAME.fullmatch(one.name)))
    begin = datetime.fromisoformat(have[-1] if have else earliest[1].decode())
    if have:
        begin += timedelta(days=1)
    end = datetime.combine(started.date() - timedelta(days=1), LAST_SECOND)
    for first, last in windows(begin, end, daily=daily):
        asked += run_window(base_url, prefix, place, first, last)
    return asked


def windows(begin: datetime, end: datetime, *, daily: bool) -> Iterator[tuple[datetime, datetime]]:
    """Days, or months, of which the first and the last may be parts."""
    while begin <= end:
        next_month = (begin.replace(day=1) + timedelta(days=32)).replace(day=1)
        after = begin + timedelta(days=1) if daily else next_month
        yield begin, min(datetime.combine(after.date() - timedelta(days=1), LAST_SECOND), end)
        begin = datetime.combine(after.date(), time())


def run_window(base_url: str, prefix: str, place: Path, first: datetime, last: datetime) -> int:
    token, number = "", 0
    while True:
        body = ask(
            base_url,
            verb="ListRecords",
            **({"resumptionToken": token} if token else {
                "metadataPrefix": prefix, "from": f"{first.isoformat()}Z",
                "until": f"{last.isoformat()}Z",
            }),
        )  # fmt: skip
        if b'code="noRecordsMatch"' in body:
            assert not token
            return 1
        assert b"<error" not in body, body
        name = f"{last.date().isoformat()}-{number:08}.xml.gz"
        (place / name).write_bytes(gzip.compress(body))
        found = re.search(rb"<resumptionToken[^>]*>([^<]+)</resumptionToken>", body)
        number += 1
        if found is None:
            return number
        token = found[1].decode()


def ask(base_url: str, **arguments: str) -> bytes:
    request = urllib.request.Request(
        f"{base_url}?{urllib.parse.urlencode(arguments)}", headers={"Accept-Encoding": "gzip"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        body: bytes = response.read()
        return gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body


def records(place: Path) -> Iterator[etree._Element]:
    """What ``metha-cat`` prints: the records of all files, in the order of their names."""
    for path in sorted(place.glob("*.xml.gz")):
        yield from etree.fromstring(gzip.decompress(path.read_bytes())).iter("{*}record")

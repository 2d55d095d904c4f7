"""Lines of access logs as the live logs have them, and page events of visitors."""

import re
from collections.abc import Hashable, Iterable
from datetime import UTC, datetime

from fuzzing.target import Target

from usagestats.lines.readers import reader_of
from usagestats.live.line_processor import logged_line
from usagestats.visitors.errors import DeadLetter
from usagestats.visitors.events import flattened, parsed, visit_of, with_profile, written
from usagestats.visitors.settings import FieldNames

_READERS = tuple(map(reader_of, ("combined", "common", "json", "iis:date time c-ip cs-uri-stem")))
_NAMES = FieldNames(time="query-time")
_KEY = bytes(32)
_CLIENT = re.compile(r"[0-9A-Za-z.:%_-]{7,}")
"""An address or the name of a host; the quotes of a line are no part of one."""
_TIME = re.compile(rb" \[\d\d/[^]]*\] ")


class LiveUsage(Target):
    promise = (
        "A line that is read is logged in one line, which is read again, without the client's "
        "address; an event is flattened and written as JSON, or a dead letter."
    )
    words = (
        b"203.0.113.7", b"2001:db8::7", b"::ffff:1.2.3.4", b' - - [12/Oct/2026:10:00:01 +0000] "',
        b"GET ", b" HTTP/1.1", b'" 200 9 "', b'" "', b'\\"', b"\\\\", b"\\", b"?", b"%0a", b"\x85",
        b"\xe2\x80\xa8", b"\xff", b"\r", b"\x00", b"[", b"]", b'{"query": [', b'{"name": "',
        b'"value": ', b"other_domain_userid", b"time", b"1e999", b"-1", b"NaN", b"\\ud800", b"null",
    )  # fmt: skip

    def seeds(self) -> Iterable[bytes]:
        combined = (
            b'203.0.113.7 - anna [12/Oct/2026:10:00:01 +0000] "GET /3/1/a.pdf?ip=203.0.113.7'
            b' HTTP/1.1" 200 9 "http://203.0.113.7/\\"x" "Mozilla \\\\ (203.0.113.7)"'
        )
        as_json = (
            b'{"time": "2026-10-12T10:00:01Z", "remote_addr": "2001:db8::7", "request":'
            b' "GET /a HTTP/1.1", "status": 200, "http_user_agent": "A\\nB \\"C"}'
        )
        event = (
            b'{"query": [{"name": "other_domain_userid", "value": "u"}, {"name": "time", "value":'
            b' 1700000000}, {"name": "other_eventtype", "value": "Pageview"}], "path": "/"}'
        )
        return [combined, as_json, b"2026-10-12 10:00:01 203.0.113.7 /a", event, b"a" * 4000]

    def check(self, data: bytes) -> Hashable:
        return self._lines(data), self._event(data)

    def _lines(self, data: bytes) -> Hashable:
        seen = []
        for line in data.split(b"\n"):
            for reader in _READERS:
                hit = reader.read(line)
                if hit is None:
                    continue
                moment = datetime.fromtimestamp(hit.moment, UTC)
                logged = logged_line(hit, moment, _KEY)
                assert b"\n" not in logged
                untimed = _TIME.sub(b"", logged, count=1)  # 10:00:01 has the "address" 0:00:01
                if _CLIENT.fullmatch(hit.address):
                    assert hit.address.encode() not in untimed
                again = _READERS[0].read(logged)
                assert again is not None, logged
                assert (again.moment, again.status) == (hit.moment, hit.status)
                seen.append((reader.spec, hit.status // 100))
        return tuple(seen[:3])

    def _event(self, data: bytes) -> Hashable:
        try:
            flat = flattened(parsed(data))
            assert flattened(flat) == flat or any(isinstance(one, list) for one in flat.values())
            again = parsed(written(flat))
            visit = visit_of(flat, _NAMES, 5, 10**13)
        except DeadLetter as error:
            return str(error)
        assert 0 <= visit.time <= 10**13
        assert written(with_profile(again, {"visit_id": visit.session}))
        return visit.page is None, visit.time > 5

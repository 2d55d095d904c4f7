"""Metadata files: their descriptions and links, and their comparison and splitting."""

import json
import os
from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from recordsilo.formats import describe, links_of
from recordsilo.formats.canonical import canonical_lines
from recordsilo.formats.documents import unwrap
from recordsilo.formats.quality import findings
from silocuration.editing.fields import read_fields, write_fields
from silocuration.errors import NoFields

_GOLDEN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "recordsilo", "formats", "golden"
)


class Descriptions(Target):
    promise = (
        "Any bytes of a metadata file are described or not, judged, and taken for what they "
        "are; fields that were read can be written, and are the same then."
    )
    words = (
        b"<", b">", b"</a>", b"<a>", b"<a/>", b"&amp;", b"&#xD;", b"&lt;", b"<![CDATA[", b"]]>",
        b"<!--", b"-->", b"<?x y?>", b'xml:lang="', b' xml:lang=""', b' xmlns="',
        b'xmlns:x="urn:x"',        b"http://", b"https://a.example/", b"doi:10.1/",
        b"<!DOCTYPE a>", b"dc:title", b"dc:date",
        b"9999-99-99", b"0000", b"\xe2\x80\xa8", b"\xef\xbf\xbd", b"ind1=", b"tag=", b"code=",
        b"encoding='utf-16'", b"<metadata>", b"</metadata>",
    )  # fmt: skip
    largest = 32_768
    iterations = 200

    def seeds(self) -> Iterable[bytes]:
        found = []
        for name in sorted(os.listdir(_GOLDEN)):
            if name.endswith(".xml"):
                with open(os.path.join(_GOLDEN, name), "rb") as file:
                    found.append(file.read())
        return found

    def check(self, data: bytes) -> Hashable:
        canonical_lines(data)
        unwrapped = unwrap(data)
        links = links_of("oai_dc", data)
        said = describe("oai_dc", data)
        judged = () if said is None else findings(said)
        json.dumps(repr(said)).encode()
        return unwrapped is None, said is None, len(links), *judged, _edited(data)


def _edited(data: bytes) -> Hashable:
    try:
        fields = read_fields(data)
    except NoFields as error:
        return str(error)[-20:]
    assert read_fields(write_fields(data, fields)) == fields
    if len(fields) > 1:
        less = fields[1:]
        try:
            written = write_fields(data, less)
        except NoFields as error:
            return str(error)[:20]
        assert [one.said() for one in read_fields(written)] == [one.said() for one in less]
    return len(fields)

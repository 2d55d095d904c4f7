"""Documents as a response takes them: the stored bytes, and no other names than before."""

import random

import pytest
from lxml import etree

from oaipmhprovider.answers import embeddable
from recordsilo.formats.documents import NoDocument, parsed_whole, unwrap
from siloprovider.embedding import embedded

OAI = "http://www.openarchives.org/OAI/2.0/"
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
RESPONSE = f'<OAI-PMH xmlns="{OAI}" {XSI}><metadata>'.encode()
END = b"</metadata></OAI-PMH>"

AS_STORED = {
    "as harvested": (
        f'<metadata xmlns="{OAI}" {XSI}><d:dc xmlns:d="urn:d"><d:t>ü</d:t></d:dc></metadata>',
        '<d:dc xmlns:d="urn:d"><d:t>ü</d:t></d:dc>',
    ),
    "with a declaration": (
        "<?xml version='1.0' encoding='utf-8'?>\n<a xmlns='urn:a' b='>'/>\n",
        "<a xmlns='urn:a' b='>'/>",
    ),
    "a prefix of the wrapper": (
        f'<metadata xmlns="{OAI}" {XSI}>\n <d:dc xmlns:d="urn:d" xsi:type="d:x"/>\n</metadata>',
        f'<d:dc {XSI} xmlns:d="urn:d" xsi:type="d:x"/>',
    ),
    "a prefix in a value": (
        f'<o:metadata xmlns:o="{OAI}" xmlns:q="urn:q"><d xmlns="urn:d" t="q:x"/></o:metadata>',
        '<d xmlns:q="urn:q" xmlns="urn:d" t="q:x"/>',
    ),
    "in the namespace of the wrapper": (
        f'<metadata xmlns="{OAI}"><dc/></metadata>',
        f'<dc xmlns="{OAI}"/>',
    ),
    "without a namespace": (
        "<a b=''><c xmlns='urn:c'/></a>",
        "<a xmlns=\"\" b=''><c xmlns='urn:c'/></a>",
    ),
    "children without a namespace": (
        '<d:a xmlns:d="urn:d"><t/></d:a>',
        '<d:a xmlns="" xmlns:d="urn:d"><t/></d:a>',
    ),
    "a section that looks like an end": (
        f'<metadata xmlns="{OAI}"><d:a xmlns:d="urn:d"><![CDATA[</metadata>]]></d:a></metadata>',
        '<d:a xmlns:d="urn:d"><![CDATA[</metadata>]]></d:a>',
    ),
}


@pytest.mark.parametrize("case", AS_STORED)
def test_the_bytes_stay_as_they_were_stored(case: str) -> None:
    stored, given = AS_STORED[case]
    assert embedded(stored.encode()).content.decode() == given


WRITTEN_ANEW = [
    f'<metadata xmlns="{OAI}"><!-- c --><a xmlns="urn:a"/></metadata>',
    f'<metadata xmlns="{OAI}"><a xmlns="urn:a"/><?p?></metadata>',
    f'<metadata xmlns="{OAI}"><![CDATA[ ]]><a xmlns="urn:a"/><![CDATA[ ]]></metadata>',
    f'<metadata xmlns="{OAI}" a=">"><a xmlns="urn:a"/></metadata>',
    '<!-- c --><a xmlns="urn:a"/><!-- d -->',
    '<a xmlns="urn:a"/><!-- d -->',
    '<metadata><a xmlns="urn:a"/></metadata>',
    f'<metadata xmlns="{OAI}"><metadata><a xmlns="urn:a"/></metadata></metadata>',
    '\ufeff<a xmlns="urn:a"/>',
]


@pytest.mark.parametrize("stored", WRITTEN_ANEW)
def test_what_cannot_stay_is_written_anew(stored: str) -> None:
    assert canonical(embedded(stored.encode()).content) == b'<a xmlns="urn:a"></a>'


def test_a_format_whose_root_is_called_metadata_stays() -> None:
    fgdc = b"<metadata><idinfo/><metainfo/></metadata>"
    assert embedded(fgdc).content == b'<metadata xmlns=""><idinfo/><metainfo/></metadata>'


def test_another_encoding_becomes_utf_8() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><a xmlns="urn:a">ü</a>'
    assert embedded(text.encode("latin-1")).content == '<a xmlns="urn:a">ü</a>'.encode()


@pytest.mark.parametrize("stored", [b"", b"%PDF", b"<a>", b"<!DOCTYPE a><a/>", b"<a>\xff</a>"])
def test_what_is_no_document_is_refused(stored: bytes) -> None:
    with pytest.raises(NoDocument):
        embedded(stored)


def test_namespace_and_schema_are_those_of_the_root() -> None:
    found = embedded(
        f'<metadata xmlns="{OAI}"><d:a xmlns:d="urn:d" {XSI} xsi:schemaLocation="urn:e f urn:d g"/>'
        "</metadata>".encode()
    )
    assert (found.namespace, found.schema) == ("urn:d", "g")


def test_long_spaces_take_no_longer_than_they_are() -> None:
    stored = b"<metadata xmlns='%b'><a xmlns='urn:a'>%b</a></metadata>" % (
        OAI.encode(), (b" " * 500_000 + b"<b/>") * 4,
    )  # fmt: skip
    assert len(embedded(stored).content) > 2_000_000


@pytest.mark.parametrize("seed", range(150))
def test_in_a_response_it_is_what_it_was_alone(seed: int) -> None:
    """Alone and in a response, each name of a made-up document is what it was in the file."""
    stored = made_up(random.Random(seed))
    before = canonical(unwrap(stored) or stored)
    found = embedded(stored).content
    assert canonical(found) == before
    assert embeddable(found) == found
    response = etree.fromstring(RESPONSE + found + END)
    assert names_of(response[0][0]) == names_of(etree.fromstring(found))


def made_up(choice: random.Random) -> bytes:
    """A document, wrapped or not, whose declarations are anywhere above where they are used."""
    prefixes = ["", "a", "b", "xsi"]

    def declared(few: float) -> dict[str, str]:
        return {
            p: choice.choice(["urn:1", "urn:2", OAI]) for p in prefixes if choice.random() < few
        }

    def element(depth: int, known: set[str]) -> str:
        new = declared(0.25)
        known = known | set(new)
        name = choice.choice([*(f"{p}:x" if p else "x" for p in known), "y"])
        attributes = "".join(namespace(p, uri, choice.choice("\"'")) for p, uri in new.items())
        if choice.random() < 0.3 and (some := [p for p in known if p]):
            attributes += f' {choice.choice(some)}:v="a:&gt; >"'
        inner = "".join(
            choice.choice(["text ", "<!-- <z> -->", "<![CDATA[</y>]]>", element(depth + 1, known)])
            for _ in range(choice.randrange(4) if depth < 3 else 0)
        )
        return f"<{name}{attributes}>{inner}</{name}>"

    if choice.random() < 0.4:
        return element(0, set()).encode()
    new = {**declared(0.5), "": OAI}
    attributes = "".join(namespace(p, uri) for p, uri in new.items())
    return f"<metadata{attributes}>\n{element(0, set(new))}\n</metadata>".encode()


def namespace(prefix: str, uri: str, quote: str = '"') -> str:
    return f" xmlns{':' if prefix else ''}{prefix}={quote}{uri}{quote}"


def canonical(document: bytes) -> bytes:
    root = parsed_whole(document)
    return etree.tostring(root, method="c14n", exclusive=True, with_comments=False)


def names_of(root: etree._Element) -> list[tuple[str, dict[str, str]]]:
    return [(one.tag, dict(one.attrib)) for one in root.iter("*")]

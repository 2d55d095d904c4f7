"""Records with links."""

from recordsilo import Silo

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>{links}</oai_dc:dc>'
)


def put_record(silo: Silo, name: str, *links: str, title: str = "A title") -> None:
    """Store a record with links, as if it had been made here."""
    said = "".join(f"<dc:identifier>{one}</dc:identifier>" for one in links)
    record = silo.get_item(f"oai:example.org:{name}")
    record.put_stream("oai_dc", DC.format(title=title, links=said).encode(), metadata=True)

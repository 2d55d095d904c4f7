"""Records with links, harvested."""

from recordsilo import Origin, Silo

DC = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>{links}</oai_dc:dc>"""


def put(silo: Silo, identifier: str, *links: str) -> None:
    """Harvest a record with these links."""
    listed = "".join(f"<dc:identifier>{link}</dc:identifier>" for link in links)
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        edit.add_version("1", date="2024-05-01T00:00:00", origin=Origin("harvest"))
        edit.put("1", "oai_dc", DC.format(title=identifier, links=listed).encode(), metadata=True)

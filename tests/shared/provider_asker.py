"""Requests to a provider, and answers that are always validated.

Against the schemas of the provider's tests, and where the environment's OAI_PMH_SCHEMA names
the published OAI-PMH.xsd (as it does in CI), against that too.
"""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from lxml import etree

from oaipmhprotocol.words import OAI_NAMESPACE
from oaipmhprovider import RecordSource, Settings, respond

NOW = datetime(2026, 3, 1, 12, 30, 45, 678_901, tzinfo=UTC)
_ANSWERS = Path(__file__).parents[1] / "oaipmhprovider" / "schemas" / "answers.xsd"

Validate = Callable[[bytes], etree._Element]


class Asker:
    """Asks one source and validates what it answers.

    `ask(verb="ListRecords", from_="2020-01-01")` leaves a trailing underscore out.
    """

    def __init__(self, validate: Validate, source: RecordSource, settings: Settings) -> None:
        self.validate = validate
        self.source = source
        self.settings = settings
        self.now = NOW

    def __call__(self, *pairs: tuple[str, str], **arguments: str) -> etree._Element:
        given = [*pairs, *((name.rstrip("_"), value) for name, value in arguments.items())]
        response = respond(given, self.source, self.now, self.settings)
        assert response.status == 200
        return self.validate(response.body)

    def codes(self, *pairs: tuple[str, str], **arguments: str) -> list[str]:
        """The error codes of an answer."""
        return [error.get("code", "") for error in self(*pairs, **arguments).iterfind("{*}error")]

    def pages(self, verb: str, **arguments: str) -> Iterator[etree._Element]:
        """Every answer of a list, in order."""
        answer = self(verb=verb, **arguments)
        yield answer
        while token := answer.findtext(f"{{*}}{verb}/{{*}}resumptionToken"):
            answer = self(verb=verb, resumptionToken=token)
            yield answer

    def identifiers(self, verb: str = "ListIdentifiers", **arguments: str) -> list[str]:
        """The identifiers of a whole list, in the order listed."""
        return [
            text
            for page in self.pages(verb, **arguments)
            for text in page.xpath("//o:header/o:identifier/text()", namespaces=NAMESPACES)
        ]


NAMESPACES = {"o": OAI_NAMESPACE}


def validator() -> Validate:
    """A function that validates an answer, and returns its root."""
    paths = [str(_ANSWERS), *filter(None, [os.environ.get("OAI_PMH_SCHEMA")])]
    schemas = [
        etree.XMLSchema(etree.parse(path, etree.XMLParser(no_network=True))) for path in paths
    ]
    parser = etree.XMLParser(resolve_entities=False, no_network=True)

    def validated(body: bytes) -> etree._Element:
        root = etree.fromstring(body, parser)
        for schema in schemas:
            schema.assertValid(root)
        return root

    return validated

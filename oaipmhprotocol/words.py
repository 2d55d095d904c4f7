"""Names on the wire in OAI-PMH 2.0: verbs, arguments, namespaces (sections 3.1, 3.2 and 4).

They are defined only here; all other modules import them.
"""

from dataclasses import dataclass
from enum import StrEnum

OAI_NAMESPACE = "http://www.openarchives.org/OAI/2.0/"
OAI_SCHEMA = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd"
OAI_DC_NAMESPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
OAI_DC_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
DC_NAMESPACE = "http://purl.org/dc/elements/1.1/"
XSI_NAMESPACE = "http://www.w3.org/2001/XMLSchema-instance"
PROTOCOL_VERSION = "2.0"


class Verb(StrEnum):
    """The six requests (section 4)."""

    IDENTIFY = "Identify"
    LIST_METADATA_FORMATS = "ListMetadataFormats"
    LIST_SETS = "ListSets"
    LIST_IDENTIFIERS = "ListIdentifiers"
    LIST_RECORDS = "ListRecords"
    GET_RECORD = "GetRecord"


class Argument(StrEnum):
    """The arguments of a request, as written in its URL (section 3.1.1)."""

    VERB = "verb"
    IDENTIFIER = "identifier"
    METADATA_PREFIX = "metadataPrefix"
    FROM = "from"
    UNTIL = "until"
    SET = "set"
    RESUMPTION_TOKEN = "resumptionToken"  # noqa: S105 - an argument's name, not a secret


@dataclass(frozen=True, slots=True)
class ArgumentRules:
    """The arguments of a verb in addition to ``verb``.

    An *exclusive* argument, if present, must be the only one.
    """

    required: frozenset[Argument] = frozenset()
    optional: frozenset[Argument] = frozenset()
    exclusive: Argument | None = None


_SELECTIVE = frozenset({Argument.FROM, Argument.UNTIL, Argument.SET})

ARGUMENT_RULES: dict[Verb, ArgumentRules] = {
    Verb.IDENTIFY: ArgumentRules(),
    Verb.LIST_METADATA_FORMATS: ArgumentRules(optional=frozenset({Argument.IDENTIFIER})),
    Verb.LIST_SETS: ArgumentRules(exclusive=Argument.RESUMPTION_TOKEN),
    Verb.LIST_IDENTIFIERS: ArgumentRules(
        frozenset({Argument.METADATA_PREFIX}), _SELECTIVE, Argument.RESUMPTION_TOKEN
    ),
    Verb.LIST_RECORDS: ArgumentRules(
        frozenset({Argument.METADATA_PREFIX}), _SELECTIVE, Argument.RESUMPTION_TOKEN
    ),
    Verb.GET_RECORD: ArgumentRules(frozenset({Argument.IDENTIFIER, Argument.METADATA_PREFIX})),
}
"""Source: OAI-PMH 2.0, section 4, "Arguments" of each verb."""


class DeletedRecord(StrEnum):
    """How a repository records deletions (section 2.5.1)."""

    NO = "no"
    TRANSIENT = "transient"
    PERSISTENT = "persistent"

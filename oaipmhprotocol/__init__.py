"""Names and values of OAI-PMH 2.0 that a data provider and a harvester share.

Pure: no network, files, clock or XML parser.

Source: The Open Archives Initiative Protocol for Metadata Harvesting, version 2.0.
"""

from oaipmhprotocol.datestamps import DatestampError, Granularity
from oaipmhprotocol.errors import (
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    IdDoesNotExist,
    NoMetadataFormats,
    NoRecordsMatch,
    NoSetHierarchy,
    OAIError,
    error_for_code,
)
from oaipmhprotocol.values import (
    Header,
    Identify,
    MetadataFormat,
    Record,
    ResumptionToken,
    Set,
)
from oaipmhprotocol.words import Verb

__all__ = [
    "BadArgument",
    "BadResumptionToken",
    "BadVerb",
    "CannotDisseminateFormat",
    "DatestampError",
    "Granularity",
    "Header",
    "IdDoesNotExist",
    "Identify",
    "MetadataFormat",
    "NoMetadataFormats",
    "NoRecordsMatch",
    "NoSetHierarchy",
    "OAIError",
    "Record",
    "ResumptionToken",
    "Set",
    "Verb",
    "error_for_code",
]

"""Error and exception conditions of OAI-PMH 2.0, one class each (section 3.6)."""


class OAIError(Exception):
    """A repository answered with an ``error`` element.

    Attributes:
        code: The condition as spelled on the wire; for a code that the
            specification does not know, the code as received.
        message: The repository's own words; may be empty.
    """

    code: str = ""

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        self.message = message
        if code is not None:
            self.code = code
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class BadArgument(OAIError):
    """An argument is illegal, missing, repeated or of the wrong form."""

    code = "badArgument"


class BadResumptionToken(OAIError):
    """The resumption token is invalid or has expired."""

    code = "badResumptionToken"


class BadVerb(OAIError):
    """The verb is illegal, missing or repeated."""

    code = "badVerb"


class CannotDisseminateFormat(OAIError):
    """The item, or the repository, does not have the metadata format."""

    code = "cannotDisseminateFormat"


class IdDoesNotExist(OAIError):
    """The identifier is unknown or illegal in this repository."""

    code = "idDoesNotExist"


class NoRecordsMatch(OAIError):
    """From, until, set and metadataPrefix together give an empty list."""

    code = "noRecordsMatch"


class NoMetadataFormats(OAIError):
    """The item has no metadata formats."""

    code = "noMetadataFormats"


class NoSetHierarchy(OAIError):
    """The repository does not support sets."""

    code = "noSetHierarchy"


_BY_CODE = {cls.code: cls for cls in OAIError.__subclasses__()}


def error_for_code(code: str, message: str = "") -> OAIError:
    """Return the exception of an error condition; `OAIError` itself for an unknown code."""
    known = _BY_CODE.get(code)
    return known(message) if known else OAIError(message, code=code)

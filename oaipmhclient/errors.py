"""Errors of responses, in addition to those in `politeweb.errors`.

    EndpointError             the repository, or the way to it (`politeweb`)
    └── PageUnreadable          the bytes are not an OAI-PMH response
        ├── OtherAnswer           a response to another verb
        ├── EntitiesRefused       entities other than XML's own five
        └── PageOverfull          its content would be far larger than itself
    TokenLoopError            a list that loops

The repository's own error conditions are `oaipmhprotocol.OAIError`.
"""

from politeweb.errors import EndpointError, FetchError, shortened


class PageUnreadable(EndpointError):
    """The bytes received are not an OAI-PMH response.

    Attributes:
        reason: What they are instead, or where reading failed.
    """

    def __init__(self, reason: str, url: str = "") -> None:
        self.reason = shortened(reason, 500)
        super().__init__(url, f"the answer of {url or 'the repository'} {self.reason}")

    def at(self, url: str) -> "PageUnreadable":
        """Return the error with the request's URL."""
        return type(self)(self.reason, url)


class OtherAnswer(PageUnreadable):
    """A well-formed response to another verb than the one requested."""


class EntitiesRefused(PageUnreadable):
    """The response has entities to resolve, as in entity bombs and attempts to read files."""


class PageOverfull(PageUnreadable):
    """The content would be far larger than the response; it is not repaired either."""


class TokenLoopError(FetchError):
    """A list loops; the pages before are valid, but the list is not complete.

    Attributes:
        token: The resumption token that was repeated, or that gave the same page again.
    """

    def __init__(self, token: str, what: str = "was issued before") -> None:
        self.token = token
        super().__init__(f"the list loops: resumption token {shortened(token)!r} {what}")

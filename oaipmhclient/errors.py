"""What can be wrong with an answer, beside what `politeweb.errors` lists.

    EndpointError             the repository, or the way to it (`politeweb`)
    └── PageUnreadable          bytes that are no OAI-PMH answer
        ├── OtherAnswer           an answer to another verb
        ├── EntitiesRefused       entities other than XML's own five
        └── PageOverfull          far more would be made of it than it has bytes
    TokenLoopError            a list that leads back into itself

The repository's own error conditions are `oaipmhprotocol.OAIError`.
"""

from politeweb.errors import EndpointError, FetchError, shortened


class PageUnreadable(EndpointError):
    """The bytes received are no OAI-PMH answer.

    Attributes:
        reason: What they are instead, or where reading failed.
    """

    def __init__(self, reason: str, url: str = "") -> None:
        self.reason = shortened(reason, 500)
        super().__init__(url, f"the answer of {url or 'the repository'} {self.reason}")

    def at(self, url: str) -> "PageUnreadable":
        """The same, with the request's URL told."""
        return type(self)(self.reason, url)


class OtherAnswer(PageUnreadable):
    """A well-formed answer to another verb than was asked."""


class EntitiesRefused(PageUnreadable):
    """The answer wants entities resolved, as entity bombs and file thieves do."""


class PageOverfull(PageUnreadable):
    """Far more would be made of the answer than it has bytes; it is not mended either."""


class TokenLoopError(FetchError):
    """A list leads back into itself; the pages before are sound, the list is not complete.

    Attributes:
        token: The resumption token that came again, or that gave the same page again.
    """

    def __init__(self, token: str, what: str = "was handed out before") -> None:
        self.token = token
        super().__init__(f"the list runs in a circle: resumption token {shortened(token)!r} {what}")

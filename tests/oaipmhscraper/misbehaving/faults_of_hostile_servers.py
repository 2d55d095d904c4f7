"""What no server means well by: 71 and up. A harvest gets over it, or refuses it and goes on."""

from misbehaving.faults import fault, now_and_then
from misbehaving.repository import Repository, changed, html

ABSURD_DATES = (
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    "Mon, 01 Jan 2030 00:00:00 +99999999999999",
)


@fault(71)
def absurd_retry_after(repository: Repository) -> None:
    """71: each request is answered by 503 at first, with a Retry-After that fits no clock."""
    now_and_then(
        repository, lambda asked, _: html(503, ("Retry-After", ABSURD_DATES[asked.number % 2]))
    )


@fault(72)
def declaration_without_an_end(repository: Repository) -> None:
    """72: the XML declaration names another encoding and lacks its ``?>``."""

    @changed(repository, "encoded")
    def encoded(step, text):
        return step(text.replace('encoding="UTF-8"?>', 'encoding="iso-8859-1">'))


@fault(73)
def absurd_list_sizes(repository: Repository) -> None:
    """73: completeListSize and cursor are numbers to `str.isdigit`, and none to `int`."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return step(page) | {"completeListSize": "9" * 5000, "cursor": "\u00b2"}

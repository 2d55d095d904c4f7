"""Errors of the provider of a Silo."""


class ProvidingError(Exception):
    """A Silo cannot be provided; the text says why."""


class ItemsUnreadable(ProvidingError):
    """The file with the items cannot be used."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be used ({reason}); delete it, it is made anew")

"""Errors of the provider of a Silo."""


class ProvidingError(Exception):
    """A Silo cannot be provided; the text says why."""


class ItemsUnreadable(ProvidingError):
    """The file with the items cannot be used."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be used ({reason}); delete it, it is made anew")


class SettingInvalid(ProvidingError):
    """A setting of the provider is malformed.

    Attributes:
        field: The field of the page's form that has it; empty if none is named.
    """

    def __init__(self, message: str, field: str = "") -> None:
        self.field = field
        super().__init__(message)


class SettingsUnreadable(ProvidingError):
    """The file with the settings of the provider is invalid, or cannot be read or written."""

    def __init__(self, path: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{path} cannot be used: {reason}")


class NotGiven(ProvidingError):
    """A record is not to be given any more, although it was when the list of all was made."""

    def __init__(self) -> None:
        super().__init__("it was withheld or deleted meanwhile")

"""Objects that a ``with`` block closes."""

from typing import Protocol, Self


class Closing(Protocol):
    """Has a method `close`, which is called at the end of a ``with`` block."""

    __slots__ = ()

    def close(self) -> None:
        """Close it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

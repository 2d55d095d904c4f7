"""The fixtures that tests of the client share with those of the harvest."""

from fake_repository import client, dc, page, repository

__all__ = ["client", "dc", "page", "repository"]

"""Follows the links of records: targets with a schedule, a polite crawl, archives and their index.

Each step takes a message of a queue and acknowledges it when all of its work is done; see
docs/crawling.md.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

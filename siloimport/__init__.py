"""Take records into a Silo that neither a harvest nor a curator made: `silo import`.

What is imported comes as `Imported` values, is checked, and is written record by record; a
source of imports (`siloimport.ocfl`) makes them.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

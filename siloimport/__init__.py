"""Take records into a Silo that neither a harvest nor a curator made: `silo import`.

What is imported comes as `Imported` values, is checked, and is written record by record; a
source of imports (`siloimport.ocfl`) makes them.
"""

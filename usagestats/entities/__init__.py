"""What the used records are about: their metadata, and the entities that share records.

An *entity* is a value of a field, such as a creator, with all records that have it. Read `mapping`
first, then `catalogue`, which reads each record once; `usage` answers questions about both.
"""

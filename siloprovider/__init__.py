"""OAI-PMH out of a Silo: its records, as they are now, for any harvester.

* `choosing`: which version of a record is given, and in which formats (pure).
* `items`: what is given of each record and since when, in an order that lists can follow.
* `source`: the two as the record source of `oaipmhprovider`.
* `dublin_core`: ``oai_dc`` of a record that is held in other formats only (pure).
* `provenance`: where a record was harvested, for its ``about`` containers (pure).
* `commands`: ``silo provide``.
"""

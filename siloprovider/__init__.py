"""OAI-PMH out of a Silo: its records, as they are now, for any harvester.

* `choosing`: which version of a record is given, and in which formats (pure).
* `item_table`: what is given of each record and since when, in an order that lists can follow.
* `items`: such a table for a Silo, kept in step with its index.
* `embedding`: the document in a metadata file, as a response takes it (pure).
* `reading`: what is read of a record for a harvester; `kept`: what need not be read again.
* `source`: all this as the record source of `oaipmhprovider`.
* `settings`: how a Silo is provided, and the file that says it.
* `dressed`: a source with identifiers of one's own, rights, and what the repository says of itself.
* `identifiers`, `descriptions`: the parts of that (pure).
* `searches`, `members`: saved searches as sets, and who enters and leaves them.
* `granary_source`, `shared_items`, `open_sources`: a directory of Silos, as one list over all.
* `providing`: a Silo or a directory by its settings, ready to be served.
* `dublin_core`: ``oai_dc`` of a record that is held in other formats only (pure).
* `provenance`: where a record was harvested, for its ``about`` containers (pure).
* `commands`: ``silo provide``.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

"""How bytes that no parser takes are made readable, with nothing guessed (all pure).

`oaipmhclient.mending.repair` decides and is what the rest of the harvester calls; these modules do
one thing each for it: what stands around an answer (`prolog`), its encoding (`encodings`),
its records cut apart (`salvage`), a single piece made well-formed (`pieces`). `repairs` names
every kind of mending, as receipts and manifests show it.

Read `oaipmhclient.mending.repair` first, then `salvage` and `pieces`.
"""

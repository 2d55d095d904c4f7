"""Repair responses that no parser accepts, without guessing (all pure).

`oaipmhclient.mending.repair` decides, and is the module to call. Each of the others has one task:
to find the response among other bytes (`prolog`), decode it (`encodings`), separate its records
(`salvage`), or make a piece well-formed (`pieces`). `repairs` names every kind of repair, as in
receipts and manifests.

Read `oaipmhclient.mending.repair` first, then `salvage` and `pieces`.
"""

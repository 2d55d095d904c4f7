"""Packages: what a crawl has kept up to a checkpoint, with identifiers and digests, in a store.

`values` and `layout` are where to begin: what a package is, and where its files are. `steps` takes
it from queue to queue and notes its state; the work itself is in functions of a `Work` and
`StoreSettings`, each of which may be done again:

1. `building.build`: ARKs; WARC files into the store, hashed while copied; logs and configuration
   into the bag in the working directory.
2. `describing.describe`: METS and PREMIS into that bag, and its manifests.
3. `submitting.submit`: the bag into the store, read back; the receipt, last.
4. `indexing.index`: the index of the package, and where its WARC files are, for the access nodes.
5. `verifying.verify`: everything that was said of the package is so.
6. `merging.check_merged`: when all nodes have it, what was for them goes (`PackageLater` before).

Source: docs/format-crawls.md.
"""

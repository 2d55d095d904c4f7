"""Audit: compare disk and manifests, report coded findings, repair what needs no guessing.

`check` only reads. It uses its own code to read manifests and files; of the store it uses
names, paths and locks, and its reader and writer to recognize manifests that are as written.
`repair` changes the disk through the store's own functions.

    findings         the table of all codes
    check            the whole Silo, in order: silo_files, tree_check, record_check, index_check
    record_check     one record: manifest_check and agreement, then versions_check
    manifest_check   the keys of a manifest, one by one; agreement: the keys with each other
    versions_check   the files of its versions on disk
    plain_record     recognizes most records without faults; record_check looks at the others
    search_check     the full text and the counts of the index
    passes           resuming an interrupted check
"""

from recordsilo.audit.check import Audit
from recordsilo.audit.findings import Code, Finding, Severity

__all__ = ["Audit", "Code", "Finding", "Severity"]

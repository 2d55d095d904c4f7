"""Where the files of packages are, in a store and in a Silo (pure; docs/format-crawls.md).

Names in a store are relative, with ``/``; a store is a directory or an object store.
"""

import os
from collections.abc import Callable

from silocrawl.paths import crawling_place

BAG = "bag"
DOCUMENTATION = "documentation"
LOGS, CONFIGURATION, ARKS = "logs.zip", "configuration.zip", "warc-arks.txt"
CRAWL_LOGS, OTHER_LOGS = "crawl/", "other/"
"""Within the archive of logs: those that say what became of addresses, and the others."""
RECEIPTS, PACKAGES, TO_MERGE, VERIFIED, MERGED, SIPS = (
    "receipts", "packages", "cdx-to-merge", "verified", "merged", "sips",
)  # fmt: skip

# --------------------------------------------------------------------------- in a store


def bag_name(package_id: str, path: str = "") -> str:
    """The bag of a package, or a file of it."""
    return "/".join(filter(None, (PACKAGES, package_id, path)))


def payload_path(package_id: str, path: str = "") -> str:
    """A file of the information package, seen from its bag."""
    return "/".join(filter(None, ("data", package_id, path)))


def warc_path(warc: str, *, is_viral: bool) -> str:
    """A WARC file, seen from its information package."""
    return f"representations/crawl/data/{'viral/' if is_viral else ''}{warc}"


def warc_name(package_id: str, warc: str, *, is_viral: bool = False) -> str:
    """A WARC file in a store."""
    return bag_name(package_id, payload_path(package_id, warc_path(warc, is_viral=is_viral)))


def _named(directory: str, ending: str) -> Callable[[str], str]:
    return lambda package_id: f"{directory}/{package_id}{ending}"


receipt_name = _named(RECEIPTS, ".json")
"""The receipt of the store: written last, so that a package with one is complete."""
cdx_name = _named(TO_MERGE, ".cdxj")
"""The sorted index of a package, until all nodes have merged it."""
places_name = _named(TO_MERGE, ".places")
"""Where the WARC files of a package are: name TAB place."""
cdx_digests_name = _named(TO_MERGE, ".sha512")
"""The digests of both, in the form of ``sha512sum``."""
verified_name = _named(VERIFIED, ".json")
"""The mark that a package was verified, with the digest of its receipt."""


def merged_name(package_id: str, node: str = "") -> str:
    """The mark of a node that has merged a package, or the directory of the marks."""
    return "/".join(filter(None, (MERGED, package_id, node)))


sip_name = _named(SIPS, ".tar.gz")
"""The bag as one file."""


# --------------------------------------------------------------------------- in a Silo


packages_directory = crawling_place("packages")
"""Where a Silo keeps what it knows of its packages, a directory for each."""


def package_directory(silo_path: str, package_id: str) -> str:
    """The working directory of a package."""
    return os.path.join(packages_directory(silo_path), package_id)


def state_file(silo_path: str, package_id: str) -> str:
    """What is known of a package."""
    return os.path.join(package_directory(silo_path, package_id), "package.json")


def bag_file(silo_path: str, package_id: str, path: str = "") -> str:
    """A file of the bag as long as it is here; the WARC files are in the store only."""
    return os.path.join(package_directory(silo_path, package_id), BAG, *filter(None, [path]))


def payload_file(silo_path: str, package_id: str, path: str = "") -> str:
    """A file of the information package in the bag as long as it is here."""
    return bag_file(silo_path, package_id, payload_path(package_id, path))


def cdx_file(silo_path: str, package_id: str) -> str:
    """The index of a package, made here before it goes into the store."""
    return os.path.join(package_directory(silo_path, package_id), "index.cdxj")


arks_file = crawling_place("arks.sqlite")
"""Which ARKs were minted, and for what; an ARK must never be minted twice: keep it."""
checkpoints_directory = crawling_place("checkpoints")
"""The checkpoints of our own crawls: a file of JSON for each."""
wanted_file = crawling_place("checkpoint-wanted")
"""Asks the running crawl for a checkpoint."""
store_file = crawling_place("store.toml")
"""How packages are made, and where they go."""

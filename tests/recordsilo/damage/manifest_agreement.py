"""Keys of a manifest that contradict each other."""

from typing import Any

from damage.cases import Box, breaks
from damage.manifest_keys import origin


@breaks("S063")
def log_of_a_version_that_is_none(box: Box) -> None:
    box.rewrite(lambda members: members["versionlog"].update({"9": []}))


@breaks("S063")
def digests_of_a_version_that_is_none(box: Box) -> None:
    box.rewrite(lambda members: members["digests"].update({"9": {}}))


@breaks("S064")
def files_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["files"].pop("1"))


@breaks("S065")
def digests_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["digests"].pop("empty"))


@breaks("S066")
def file_without_a_digest(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["empty"].append("oai_dc"))


@breaks("S066")
def digest_without_a_file(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["1"].remove("oai_dc"))


@breaks("S067")
def directory_not_in_subdir(box: Box) -> None:
    box.rewrite(lambda members: members["subdir"]["workingcopy"].clear())


@breaks("S067")
def directory_not_in_files(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["workingcopy"].remove("docs"))


@breaks("S068")
def metadata_that_is_no_file(box: Box) -> None:
    box.rewrite(lambda members: members["metadata_files"]["1"].append("mods"))


@breaks("S069")
def date_of_a_version_not_a_date(box: Box) -> None:
    box.rewrite(lambda members: members["version_dates"].update({"1": "in summer"}))


@breaks("S069")
def date_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["version_dates"].pop("1"))


@breaks("S069")
def date_of_a_prefix_not_a_date(box: Box) -> None:
    origin(box, "1", prefixes={"oai_dc": "2004-13-24T00:00:00"})


@breaks("S069")
def date_of_an_origin_not_a_date(box: Box) -> None:
    origin(box, "workingcopy", date="yesterday")


@breaks("S070")
def date_of_the_record_another(box: Box) -> None:
    box.set(date="1999-01-01T00:00:00")


@breaks("S071")
def origin_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["origins"].pop("1"))


@breaks("S072")
def origin_of_an_unknown_kind(box: Box) -> None:
    origin(box, "1", kind="found")


@breaks("S072")
def origin_of_no_kind(box: Box) -> None:
    box.rewrite(lambda members: members["origins"]["1"].pop("kind"))


@breaks("S073")
def clone_of_no_version(box: Box) -> None:
    origin(box, "workingcopy", of="7")


@breaks("S073")
def clone_of_itself(box: Box) -> None:
    origin(box, "workingcopy", of="workingcopy")


@breaks("S073")
def clone_without_an_original(box: Box) -> None:
    box.rewrite(lambda members: members["origins"]["workingcopy"].pop("of"))


def rename_in(members: dict[str, Any], old: str, new: str) -> None:
    """Give a version another name, wherever the manifest has it."""
    members["versions"] = [new if name == old else name for name in members["versions"]]
    members["currentversion"] = members["currentversion"].replace(old, new)
    for key, found in members.items():
        if isinstance(found, dict) and key != "metadata":
            members[key] = {new if name == old else name: one for name, one in found.items()}


@breaks("S105")
def harvested_version_with_a_file_put_by_hand(box: Box) -> None:
    line = "Added or updated file oai_dc [2026-03-01T10:00:00 someone]"
    box.rewrite(lambda members: members["versionlog"]["1"].append(line))
    box.rewrite(lambda members: members["origins"]["1"].update(prefixes={"oai_dc": "2004-06-24"}))


@breaks("S102")
def version_longer_than_a_directory_may_be(box: Box) -> None:
    box.rewrite(lambda members: rename_in(members, "workingcopy", "x" * 254))


@breaks("S102")
def version_of_half_a_character(box: Box) -> None:
    box.rewrite(lambda members: rename_in(members, "workingcopy", "\udc80"))


def rename_file_in(members: dict[str, Any], new: str) -> None:
    members["files"]["workingcopy"] = [new]
    members["metadata_files"]["workingcopy"] = [new]
    members["subdir"]["workingcopy"] = []
    members["digests"]["workingcopy"] = {new: None}


@breaks("S103")
def file_longer_than_a_name_may_be(box: Box) -> None:
    box.rewrite(lambda members: rename_file_in(members, "é" * 128))


@breaks("S103")
def file_of_half_a_character(box: Box) -> None:
    box.rewrite(lambda members: rename_file_in(members, "\ud800"))


@breaks("S104")
def nested_too_deep(box: Box) -> None:
    deep: list[Any] = []
    for _ in range(70):
        deep = [deep]
    box.set(metadata={"deep": deep})


@breaks("S055")
def revision_beyond_what_a_database_counts(box: Box) -> None:
    box.set(revision=1 << 63)


@breaks("S054")
def format_beyond_what_a_database_counts(box: Box) -> None:
    box.set(format=1 << 64)


@breaks("S056")
def size_beyond_what_a_database_counts(box: Box) -> None:
    digest = {"sha256": "0" * 64, "size": 1 << 63}
    box.rewrite(lambda members: members["digests"]["workingcopy"].update(oai_dc=digest))


@breaks("S034")
def number_that_is_infinite(box: Box) -> None:
    content = box.manifest.read_bytes()
    box.manifest.write_bytes(content.replace(b'"revision"', b'"large": 1e999,\n"revision"'))

"""Settings of bags: fields for bag-info.txt, and a profile that the bags conform to.

Source: RFC 8493, section 2.2.2; BagIt Profiles Specification 1.3.0.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from siloexport.errors import ExportError, TargetUnusable

OWN = ("External-Identifier", "Bagging-Date", "Bag-Size", "Payload-Oxum")
"""Fields of RFC 8493 that are written into every bag, once."""
SENDER = "Internal-Sender-Description"
"""Says where the record was harvested, unless the settings give a value."""
TAG_FILES = ("bagit.txt", "bag-info.txt", "silo.json")
ALGORITHMS = ("sha512", "sha384", "sha256", "sha224", "sha1", "md5")
_IDENTIFIER = "BagIt-Profile-Identifier"
_ABOUT = ("Source-Organization", "External-Description", "Version", _IDENTIFIER)
_TAR = {"application/tar", "application/x-tar"}


@dataclass(frozen=True, slots=True)
class BagSettings:
    """Settings for all bags of a directory.

    Attributes:
        info: Labels and values for ``bag-info.txt``, in order.
        manifests: Algorithms of the payload's manifests.
        tag_manifests: Those of the tag files' manifests.
    """

    info: tuple[tuple[str, str], ...] = ()
    manifests: tuple[str, ...] = ("sha512",)
    tag_manifests: tuple[str, ...] = ("sha512",)

    def to_json(self) -> str:
        """Return the settings as one line of JSON in ASCII."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "BagSettings":
        """Read what `to_json` wrote; an empty text gives the default settings.

        Raises:
            TargetUnusable: The text is invalid.
        """
        try:
            found = json.loads(text) if text else {}
            info = tuple((str(label), str(value)) for label, value in found.pop("info", ()))
            return cls(info, **{str(name): tuple(map(str, one)) for name, one in found.items()})
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            why = f"the settings in .silo-export cannot be read ({error})"
            raise TargetUnusable(f"{why}; give --info and --profile again") from None


def read_settings(info_path: str | None, profile_path: str | None) -> BagSettings | None:
    """Read the settings for `silo export bag`; None if there are no files.

    Args:
        info_path: A file in the form of ``bag-info.txt``.
        profile_path: A BagIt profile, in JSON.

    Raises:
        ExportError: A file cannot be read or is invalid, or bags cannot conform to the profile;
            the message names all faults.
    """
    if info_path is None and profile_path is None:
        return None
    info = parse_info(_read(info_path), info_path) if info_path else ()
    if profile_path is None:
        return BagSettings(info)
    try:
        profile = json.loads(_read(profile_path))
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{profile_path} is not JSON: {error}") from None
    settings, faults = met(profile, info)
    if faults:
        raise ExportError(f"the profile {profile_path} cannot be met: {'; '.join(faults)}")
    return settings


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ExportError(f"{path} is not UTF-8; save it as UTF-8") from None


def parse_info(text: str, name: str) -> tuple[tuple[str, str], ...]:
    """Read fields in the form of ``bag-info.txt``; indented lines continue the one before.

    Raises:
        ExportError: A line is invalid; the message names it and says why.
    """
    found: list[tuple[str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        if line[0] in " \t" and found:
            label, value = found[-1]
            found[-1] = (label, f"{value} {line.strip()}")
            continue
        label, colon, value = line.partition(":")
        label = label.strip()
        if not colon or not label:
            raise ExportError(f"line {number} of {name} is not of the form Label: value")
        if _same(label, OWN) or label.casefold().startswith("silo-"):
            raise ExportError(f"line {number} of {name}: {label} is written by the export itself")
        found.append((label, " ".join(value.split())))
    if empty := [label for label, value in found if not value]:
        raise ExportError(f"{name} does not give {empty[0]} a value")
    return tuple(found)


# -- profiles ----------------------------------------------------------------------------


def met(profile: Any, info: Sequence[tuple[str, str]]) -> tuple[BagSettings, list[str]]:
    """Return the settings that conform to a profile, and what in it they do not conform to."""
    faults: list[str] = []
    if not isinstance(profile, dict):
        return BagSettings(), ["it is not a JSON object"]
    identifier = _about(profile, faults)
    if identifier and (_IDENTIFIER, identifier) not in info:
        info = (*info, (_IDENTIFIER, identifier))
    sums = [_sums(profile, kind, faults) for kind in ("Manifests", "Tag-Manifests")]
    faults += [*_form_faults(profile), *_info_faults(profile, info)]
    return BagSettings(tuple(info), *sums), faults


def _about(profile: Mapping[str, Any], faults: list[str]) -> str:
    about = profile.get("BagIt-Profile-Info")
    about = about if isinstance(about, dict) else {}
    lacking = [name for name in _ABOUT if not isinstance(about.get(name), str)]
    if lacking:
        faults.append(f"its BagIt-Profile-Info lacks {', '.join(lacking)}")
    identifier = about.get(_IDENTIFIER)
    return " ".join(identifier.split()) if isinstance(identifier, str) else ""


def _sums(profile: Mapping[str, Any], kind: str, faults: list[str]) -> tuple[str, ...]:
    """Return the algorithms of a kind of manifest: the required ones, and SHA-512 if allowed."""
    required = _texts(profile, f"{kind}-Required", faults)
    allowed = _texts(profile, f"{kind}-Allowed", faults) or list(ALGORITHMS)
    if others := [one for one in required if one not in allowed]:
        faults.append(f"{kind}-Required has {', '.join(others)}, but {kind}-Allowed does not")
    if unknown := [one for one in required if one not in ALGORITHMS]:
        faults.append(f"{kind}-Required has {', '.join(unknown)}, which is not supported")
    usable = [one for one in ALGORITHMS if one in allowed]
    if not usable:
        faults.append(f"{kind}-Allowed has none of {', '.join(ALGORITHMS)}")
    wanted = {*required, *(one for one in usable if one == "sha512")} or set(usable[:1])
    return tuple(one for one in ALGORITHMS if one in wanted)


def _form_faults(profile: Mapping[str, Any]) -> Iterator[str]:
    faults: list[str] = []
    versions = _texts(profile, "Accept-BagIt-Version", faults)
    if "1.0" not in versions:
        yield "Accept-BagIt-Version does not have 1.0, the version of these bags"
    serialization = profile.get("Serialization", "optional")
    types = _texts(profile, "Accept-Serialization", faults)
    if serialization not in ("required", "optional"):
        yield f"Serialization is {serialization}, and these bags are tar files"
    elif not _TAR & set(types) and (types or "Serialization" in profile):
        yield "Accept-Serialization does not have application/tar, and these bags are tar files"
    for name in ("Fetch.txt-Required", "Data-Empty"):
        if _is_true(profile.get(name)):
            yield f"{name} is set, and these bags hold their files"
    yield from _tag_file_faults(profile, faults)
    yield from faults


def _tag_file_faults(profile: Mapping[str, Any], faults: list[str]) -> Iterator[str]:
    required = _texts(profile, "Tag-Files-Required", faults)
    if lacking := [name for name in required if name not in TAG_FILES]:
        yield f"Tag-Files-Required has {', '.join(lacking)}, which these bags do not have"
    allowed = _texts(profile, "Tag-Files-Allowed", faults)
    if "Tag-Files-Allowed" in profile and not any(fnmatchcase("silo.json", one) for one in allowed):
        yield "Tag-Files-Allowed does not have silo.json, which says where the versions came from"


def _info_faults(profile: Mapping[str, Any], info: Sequence[tuple[str, str]]) -> Iterator[str]:
    rules = profile.get("Bag-Info", {})
    if not isinstance(rules, dict) or not all(isinstance(rule, dict) for rule in rules.values()):
        yield "Bag-Info is not an object of objects"
        return
    for label, rule in rules.items():
        given = [value for name, value in info if _same(name, [label])]
        yield from _rule_faults(label, rule, given)


def _rule_faults(label: str, rule: Mapping[str, Any], given: list[str]) -> Iterator[str]:
    faults: list[str] = []
    values = _texts(rule, "values", faults)
    yield from (f"{label}: {fault}" for fault in faults)
    if _same(label, OWN):
        if values:
            yield f"it restricts the values of {label}, which differ from bag to bag"
        return
    is_needed = _is_true(rule.get("required")) or (values and _same(label, [SENDER]))
    if is_needed and not given:
        of = f" (one of: {', '.join(values)})" if values else ""
        yield f"it requires {label}{of}; give it with --info"
    if others := [value for value in given if values and value not in values]:
        yield f"it allows {', '.join(values)} for {label}, not {', '.join(others)}"
    if len(given) > 1 and rule.get("repeatable") in (False, "false"):
        yield f"it allows one {label}, not {len(given)}"


def _is_true(value: Any) -> bool:
    return value is True or value == "true"


def _same(label: str, others: Sequence[str]) -> bool:
    """Whether a label is one of others: labels are compared without case (RFC 8493, 2.2.2)."""
    return label.casefold() in {one.casefold() for one in others}


def _texts(members: Mapping[str, Any], name: str, faults: list[str]) -> list[str]:
    found = members.get(name, [])
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return found
    faults.append(f"{name} is not a list of texts")
    return []

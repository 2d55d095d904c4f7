"""The checkpoints of our own crawls: ``crawling/checkpoints/NAME.json``, each written whole.

A checkpoint has the WARC files that were ended since the one before, and the lines that were
written to the logs. A line may name a file of the checkpoint before, as what was archived is logged
a little later; such files are noted with their packages.
"""

import fcntl
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from politeweb.settings import own_name
from politeweb.warc.files import WarcName, warc_names, whole_length
from recordsilo.disk.atomic_file import make_file, make_parents, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.names import names_in
from silocrawl.packages.checkpoints import facts_of
from silocrawl.packages.layout import checkpoints_directory, store_file, wanted_file
from silocrawl.packages.values import Checkpoint, LogRange, PackagingError, check_warc_name
from silocrawl.paths import archives_directory, log_file, log_files, targets_directory

_NAME = re.compile(r"cp(\d{5,9})-\d{14}")
_STREAM = re.compile(r"[A-Za-z0-9_-]{1,64}")


class CheckpointUnreadable(PackagingError):
    """What is noted of a checkpoint cannot be read; without it, nothing is packaged."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}")


def ask_for_checkpoint(silo_path: str) -> None:
    """Ask the crawl that is running for a checkpoint."""
    make_parents(wanted_file(silo_path), silo_path)
    replace_file(wanted_file(silo_path), b"")


def is_wanted(silo_path: str) -> bool:
    """Whether somebody has asked for a checkpoint."""
    return os.path.exists(wanted_file(silo_path))


def was_made(silo_path: str) -> None:
    """Note that a checkpoint was made, so that nobody waits for one."""
    with suppress(FileNotFoundError):
        os.unlink(wanted_file(silo_path))


def checkpoint_names(silo_path: str) -> list[str]:
    """The names of the checkpoints, the oldest first."""
    return sorted(names_in(checkpoints_directory(silo_path), ".json", _NAME), key=_number)


def _number(name: str) -> int:
    return int(name[2:].partition("-")[0])


def make_checkpoint(
    silo_path: str, stream: str, settings: Mapping[str, Any] | None = None
) -> str | None:
    """Note what was crawled since the last checkpoint; return the name of the new one.

    The caller has ended the WARC file that it was writing. A file that another process is writing
    belongs to the next checkpoint.

    Args:
        stream: Of the packages of the Silo's own crawls.
        settings: How it is crawled; kept with it.

    Returns:
        None if no WARC file is new.

    Raises:
        CheckpointUnreadable: An earlier one is damaged; nothing is written.
        OSError: The disk refused.
    """
    with Locks.of_silo(silo_path).hold_name("checkpoint"):
        return _made(silo_path, stream, settings or {})


def _made(silo_path: str, stream: str, settings: Mapping[str, Any]) -> str | None:
    names = checkpoint_names(silo_path)
    earlier = [_table(silo_path, name) for name in names]
    known = {warc for table in earlier for warc in table["warcs"]}
    ends = dict(earlier[-1]["ends"]) if earlier else {}
    warcs = [one for one in _own_warcs(silo_path) if one not in known and _is_ended(silo_path, one)]
    places = [one for one in log_files(silo_path) if not os.path.islink(one)]
    sizes = {os.path.basename(one): os.path.getsize(one) for one in places if os.path.isfile(one)}
    logs = {one: [ends.get(one, 0), size] for one, size in sizes.items() if size > ends.get(one, 0)}
    if not warcs:  # lines alone, as those of a Heritrix, wait for the next one
        return None
    made = datetime.now(UTC)
    name = f"cp{_number(names[-1]) + 1 if names else 1:05}-{made:%Y%m%d%H%M%S}"
    table = {
        "format": 1,
        "name": name,
        "stream": stream,
        "made": made.isoformat(timespec="seconds"),
        "software": own_name(),
        "settings": dict(settings),
        "logs": logs,
        "ends": ends | sizes,
        "warcs": warcs,
    }
    path = _path(silo_path, name)
    make_parents(path, silo_path)
    make_file(path, json.dumps(table, indent=1).encode() + b"\n")
    return name


def _own_warcs(silo_path: str) -> list[str]:
    """What our crawls wrote; a file that was taken in from elsewhere has another form of name."""
    return [str(one) for one in warc_names(archives_directory(silo_path))]


def _is_ended(silo_path: str, name: str) -> bool:
    """Whether nobody writes a file; what a killed process has begun of a record is cut off."""
    with open(os.path.join(archives_directory(silo_path), name), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        size = file.seek(0, os.SEEK_END)
        whole = whole_length(file)
        if whole < size:
            file.truncate(whole)
            os.fsync(file.fileno())
        return whole > 0


def _path(silo_path: str, name: str) -> str:
    return os.path.join(checkpoints_directory(silo_path), f"{name}.json")


def _table(silo_path: str, name: str) -> dict[str, Any]:
    path = _path(silo_path, name)
    try:
        with open(path, "rb") as file:
            table: dict[str, Any] = json.load(file)
        if table["format"] != 1 or table["name"] != name:
            raise ValueError("it is of another format, or of another checkpoint")
        if not _STREAM.fullmatch(table["stream"]):
            raise ValueError("its stream has other characters than A-Z a-z 0-9 _ -")
        for warc in table["warcs"]:
            check_warc_name(warc)
        ranges = [*table["logs"].values(), *([0, end] for end in table["ends"].values())]
        if any(not 0 <= begin <= end for begin, end in ranges):
            raise ValueError("a part of a log ends before it begins")
        if any("/" in log or not log.endswith(".log") for log in table["logs"]):
            raise ValueError("it names a log that is none")
        datetime.fromisoformat(table["made"])
    except OSError as error:
        raise CheckpointUnreadable(path, error.strerror or str(error)) from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise CheckpointUnreadable(path, str(error)) from None
    return table


# --------------------------------------------------------------------------- read again


def stream_of_checkpoint(silo_path: str, name: str) -> str:
    """The stream of a checkpoint.

    Raises:
        CheckpointUnreadable: It is damaged, or there is none.
    """
    return str(_table(silo_path, name)["stream"])


def load_own(silo_path: str, name: str) -> Checkpoint:
    """Read a checkpoint and what its logs say.

    Raises:
        CheckpointUnreadable: It is damaged, or there is none.
        PackagingError: A WARC file that it or its logs name is absent.
    """
    table = _table(silo_path, name)
    directory = os.path.dirname(log_file(silo_path, ""))
    logs = tuple(
        LogRange(log, os.path.join(directory, log), begin, end)
        for log, (begin, end) in sorted(table["logs"].items())
    )
    facts, made = facts_of(logs), datetime.fromisoformat(table["made"])
    archives = archives_directory(silo_path)
    warcs = {one: os.path.join(archives, one) for one in table["warcs"]}
    others = _packages(silo_path) if facts.warcs.keys() - warcs else {}
    elsewhere = {one: others.get(one, "") for one in facts.warcs if one not in warcs}
    absent = [one for one in warcs if not os.path.isfile(warcs[one])]
    absent += [one for one, package in elsewhere.items()
               if not package and WarcName.parse(one)  # others are those of a Heritrix
               and not os.path.isfile(os.path.join(archives, one))]  # fmt: skip
    if absent:
        raise PackagingError(
            f"the checkpoint {name} has the WARC file {min(absent)}, which is not in {archives}"
        )
    launches = [log.removesuffix(".log") for log in sorted(table["logs"])]
    return Checkpoint(
        table["stream"], name, silo_path, facts.started or made, made,
        crawl_id=launches[0] if launches else name,
        software=str(table["software"]), logs=logs, warcs=warcs, viral=facts.viral,
        elsewhere=elsewhere, configuration=_configuration(silo_path, name),
    )  # fmt: skip


def _packages(silo_path: str) -> dict[str, str]:
    """The package of each WARC file of the checkpoints."""
    tables = [_table(silo_path, name) for name in checkpoint_names(silo_path)]
    return {one: f"{table['stream']}-{table['name']}" for table in tables for one in table["warcs"]}


def _configuration(silo_path: str, name: str) -> dict[str, str]:
    targets = targets_directory(silo_path)
    names = names_in(targets, ".toml", re.compile(r"[a-z0-9][a-z0-9-]*"))
    files = {f"targets/{one}.toml": os.path.join(targets, f"{one}.toml") for one in names}
    files["checkpoint.json"] = _path(silo_path, name)
    if os.path.isfile(store_file(silo_path)):
        files["store.toml"] = store_file(silo_path)
    return files

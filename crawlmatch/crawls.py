"""Match a crawl into a Silo: a directory in ``crawls/``, written completely or not at all.

Source: docs/format-crawls.md, "Matches".
"""

import hashlib
import json
import os
from datetime import UTC, datetime
from importlib.resources import files

from crawlmatch.errors import CrawlNotFound
from crawlmatch.inputs import file_digest
from crawlmatch.kept import DIRECTORY, FORMAT, NAME, Crawl, check_name, crawl_named
from crawlmatch.matching import RESULT, MatchRequest, ShardRunner, match_into
from crawlmatch.shards import MEMORY, RECEIPT, Watch, sweep, whole_directory
from recordsilo.disk.locks import Locks
from silosteps.errors import InputUnreadable


def match_into_silo(
    silo_path: str,
    name: str,
    request: MatchRequest,
    *,
    processes: int = 1,
    memory: str = MEMORY,
    run: ShardRunner | None = None,
    watch: Watch | None = None,
) -> tuple[Crawl, bool]:
    """Match a crawl and store it; it replaces one of that name when it is complete.

    Does nothing if the stored crawl has the same inputs and was made by the same steps.

    Args:
        processes: Number of inputs to read in parallel.
        memory: Most memory of the engine, such as ``"512MB"``.
        run, watch: See `match_into`.

    Returns:
        The crawl, and whether it is new.

    Raises:
        InputUnreadable, CrawlError, StepsError, OSError: The stored crawl is unchanged.
    """
    check_name(name)
    locks = Locks(f"{silo_path}/.silo/locks")
    with locks.hold_name(f"crawl {name}"):
        fingerprint = fingerprint_of(request)
        if os.path.isdir(f"{silo_path}/{DIRECTORY}"):
            sweep(f"{silo_path}/{DIRECTORY}", name)
        try:
            before = crawl_named(silo_path, name)
        except CrawlNotFound:
            before = None
        if before is not None and fingerprint and before.fingerprint == fingerprint:
            return before, False
        with whole_directory(f"{silo_path}/{DIRECTORY}/{name}") as staged:
            receipt = match_into(
                staged, request, processes=processes, memory=memory, run=run, watch=watch
            )
            receipt.check_used()
            told = {
                "format": FORMAT,
                "matched": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}",
                "fingerprint": fingerprint,
                "rules": {
                    "full_texts": list(request.rules.full_texts),
                    "walls": list(request.rules.walls),
                    "defences": list(request.rules.defences),
                },
                "paths": [os.path.abspath(one) if one != "-" else one for one in request.inputs],
                "receipt": receipt.to_json(),
            }
            with open(f"{staged}/crawl.json", "w", encoding="utf-8") as file:
                json.dump(told, file, ensure_ascii=False, indent=1)
    return crawl_named(silo_path, name), True


def fingerprint_of(request: MatchRequest) -> str:
    """Return a digest of everything that a result depends on; "" if standard input is read."""
    named = [*request.inputs, *request.earlier, *request.seeds]
    if "-" in named:
        return ""
    told = [
        hashlib.sha256(files("crawlmatch").joinpath("steps.sql").read_bytes()).hexdigest(),
        *(
            sorted({_digest(one) for one in group})
            for group in (request.inputs, request.earlier, request.seeds)
        ),
        sorted(set(request.seed_rows)),
        list(request.rules.full_texts),
        list(request.rules.walls),
        list(request.rules.defences),
        request.unseeded,
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _digest(name: str) -> str:
    try:
        return file_digest(f"{name}/{RECEIPT}" if os.path.isdir(name) else name)[0]
    except OSError as error:
        if os.path.isdir(name) and not os.path.exists(f"{name}/{RECEIPT}"):
            reason = "it is a directory, but not a shard (silo crawl map); name the files in it"
            raise InputUnreadable(name, reason) from error
        raise InputUnreadable(name, error.strerror or str(error)) from error


def named_earlier(silo_path: str, given: str) -> str:
    """Return the path of an earlier crawl, given as a path or as the name of one in the Silo."""
    kept = f"{silo_path}/{DIRECTORY}/{given}"
    if not os.path.exists(given) and NAME.fullmatch(given) and os.path.isdir(kept):
        return f"{kept}/{RESULT}.parquet"
    return given

"""The pace of a host that processes or machines share, as a value, and where it is for a Silo."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass

from politeweb.addresses import host_of
from politeweb.errors import RequestRefused
from politeweb.file_pace import HOSTS_FILE, FilePace
from politeweb.pace import OpenTurns, Pace, Turns
from politeweb.redis_pace import RedisPace

PLACE_FILE = "hosts.json"


@dataclass(frozen=True, slots=True)
class PaceSpec:
    """The pace of a host; a value that can be sent to another process.

    Attributes:
        interval: Least seconds between the starts of two requests; 0 for no pace.
        place: A directory with ``hosts.sqlite``, or the URL of a Redis; empty if no other process
            requests the host.
        nodes: How many machines share the host, for when the Redis cannot be reached.
        turns: How many turns may be given ahead; after so many intervals, all of them are over.
        decides: Whether others go no faster than this.
    """

    interval: float = 0.0
    host: str = ""
    place: str = ""
    nodes: int = 1
    turns: int = 1
    decides: bool = True


def turns_of(spec: PaceSpec, *, is_bound: bool = False) -> Turns:
    """Return the turns of a host: of this process alone, of this machine, or of several.

    Args:
        spec: Where they are, and how many.
        is_bound: See `RedisPace`.

    Raises:
        RequestRefused: The place cannot be used; see `RedisPace`.
    """
    if not spec.place or (spec.decides and not spec.interval):
        return Pace(spec.interval)
    if "://" in spec.place:
        return RedisPace(
            spec.place, spec.host, spec.interval,
            nodes=spec.nodes, turns=spec.turns, decides=spec.decides, is_bound=is_bound,
        )  # fmt: skip
    return FilePace(spec.place, spec.host, spec.interval, decides=spec.decides)


@dataclass(frozen=True, slots=True)
class PlaceOfPaces:
    """The Redis that gives the turns of hosts to the Silos of a directory.

    Attributes:
        redis: Its URL, which may have a password.
        nodes: See `PaceSpec`.
    """

    redis: str
    nodes: int = 1


def note_place(granary: str, place: PlaceOfPaces | None) -> None:
    """Note for other programs where the Silos of a directory get their turns.

    Args:
        place: The Redis; None if it is the file of the machine.

    Raises:
        OSError: The note cannot be written.
    """
    path = os.path.join(granary, "fleet", PLACE_FILE)
    if place is None:
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    staged = f"{path}.{os.getpid()}"
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(place), file)
    os.replace(staged, path)


def turns_beside(silo_path: str) -> OpenTurns | None:
    """Return what gives the turns of hosts to a Silo of a fleet, at no more than the fleet's pace.

    Returns:
        None for a Silo beside which there is no fleet.

    Raises:
        RequestRefused: The note of where they are cannot be read.
    """
    directory = os.path.join(os.path.dirname(os.path.abspath(silo_path)), "fleet")
    noted = _noted(os.path.join(directory, PLACE_FILE))
    if noted is None and not os.path.exists(os.path.join(directory, HOSTS_FILE)):
        return None
    place, nodes = (noted.redis, noted.nodes) if noted else (directory, 1)
    return lambda url, interval: turns_of(
        PaceSpec(interval, host_of(url), place, nodes, decides=False)
    )


def _noted(path: str) -> PlaceOfPaces | None:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return PlaceOfPaces(str(found["redis"]), int(found["nodes"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        said = f"{path} cannot be read ({error}); delete it, and the fleet's worker makes it again"
        raise RequestRefused(said) from None

"""Feeds a running job from ``uris-to-crawl``, by the files of its action directory.

Heritrix takes a file within a second or two, and moves it away. It cuts off the first three
characters of a line of ``.schedule`` and ``.force`` blindly, so they are always ``F+ ``. What is
fed again after a kill is known to Heritrix already. Source: `ActionDirectory` of Heritrix 3.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from silocrawl.errors import MessageInvalid, TargetRefused
from silocrawl.heritrix.jobs import surts_of
from silocrawl.messages import CRAWL, CrawlAddress, address_of
from silocrawl.scope import Scope
from silocrawl.targets import load_target
from silowork.queues.values import Queued, Queues

MOST_TOGETHER = 1_000
SEEDS, SCHEDULE, FORCE = "seeds", "schedule", "force"


def fed_mark(launch: str) -> str:
    """The name of the mark that says by which job the addresses of a launch are fetched."""
    return f"fed {launch}"


def action_files(
    addresses: Iterable[CrawlAddress], scopes: Mapping[str, Scope]
) -> dict[str, bytes]:
    """The files of an action directory: name → content (pure).

    Args:
        addresses: Without blanks and line ends, as `address_of` reads them.
        scopes: Launch → the scope of its target, for its seeds.
    """
    lines: dict[str, list[str]] = {}
    for one in addresses:
        if one.is_forced or one.path:
            hops, via = one.path.rpartition("+")[2] or "-", one.via if one.path else "-"
            line = f"F+ {one.url} {hops} {via}"
            lines.setdefault(FORCE if one.is_forced else SCHEDULE, []).append(line)
        else:
            scope = scopes.get(one.launch)
            prefixes = surts_of(scope, one.url) if scope is not None else []
            some = lines.setdefault(SEEDS, [])
            some += [f"+{prefix}" for prefix in prefixes if f"+{prefix}" not in some]
            some.append(one.url)
    files = {}
    for kind, some in lines.items():
        content = "".join(f"{line}\n" for line in some).encode()
        files[f"silo-{hashlib.sha256(content).hexdigest()[:24]}.{kind}"] = content
    return files


def feed_once(
    silo_path: str, queues: Queues, job: str, write: Callable[[str, bytes], object]
) -> int:
    """Feed some addresses; return how many were taken.

    Args:
        queues: Where the addresses are; nobody else fetches them.
        job: Its name.
        write: Puts a file of the action directory, whole; a file of that name is replaced.

    Raises:
        HeritrixError, OSError: It cannot be written; the addresses are given back.
    """
    taken = queues.take(CRAWL, MOST_TOGETHER)
    try:
        known = _addresses(queues, taken)
        launches = dict.fromkeys(one.launch for _, one in known)
        scopes = _scopes(silo_path, launches)
        for name, content in action_files((one for _, one in known), scopes).items():
            write(name, content)
        for launch in filter(None, launches):
            if queues.mark(fed_mark(launch)) != job:
                queues.put((), mark=(fed_mark(launch), job))
    except BaseException:
        queues.give_back(taken)
        raise
    if known:
        queues.done([message for message, _ in known])
    return len(taken)


def _addresses(queues: Queues, taken: Sequence[Queued]) -> list[tuple[Queued, CrawlAddress]]:
    found = []
    for message in taken:
        try:
            found.append((message, address_of(message.body)))
        except MessageInvalid as error:
            queues.failed([message], str(error), None)
    return found


def _scopes(silo_path: str, launches: Iterable[str]) -> dict[str, Scope]:
    found: dict[str, Scope] = {}
    for launch in launches:
        try:
            found[launch] = load_target(silo_path, launch.rpartition("/")[0]).scope
        except TargetRefused:
            continue
    return found

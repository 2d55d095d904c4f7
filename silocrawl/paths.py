"""Where in a Silo the crawls keep their files (docs/format-crawls.md)."""

import os
from collections.abc import Callable


def crawling_place(name: str) -> Callable[[str], str]:
    """Return what finds a file or directory of the crawls in a Silo, whose path it is given."""
    return lambda silo_path: os.path.join(silo_path, "crawling", name)


targets_directory = crawling_place("targets")
"""The wishes: a TOML file for each target."""
queues_file = crawling_place("queues.sqlite")
"""The messages that are to be worked on, and how far each target was launched."""
broker_file = crawling_place("broker")
"""The URL of the Redis that has the messages instead; only its owner may read it."""
broker_name_file = crawling_place("broker-name")
"""The name of the crawl to which that Redis has to belong."""
amqp_file = crawling_place("amqp.toml")
"""The RabbitMQ to and from which messages are bridged."""
answers_file = crawling_place("answers.sqlite")
"""What each address answered last, and what the crawl of each seed has spent."""
catalogue_file = crawling_place("catalogue.sqlite")
"""What became of each document: attached, proposed or rejected, why, and by whom."""
archives_directory = crawling_place("warcs")
"""What was fetched: WARC files."""
places_file = crawling_place("places.tsv")
"""Where archive files are that are not in the Silo."""
imported_file = crawling_place("imported.jsonl")
"""Which WARC files were taken in from elsewhere: a line of JSON for each."""
_logs = crawling_place("logs")


def log_file(silo_path: str, launch: str, node: str = "") -> str:
    """What became of each address of a launch: a crawl log in the form of Heritrix.

    Args:
        launch: Name of the launch.
        node: Name of the machine, if others write logs of the same launch.
    """
    name = launch.replace("/", "-") or "injected"
    end = f".{node}.log" if node else ".log"
    return os.path.join(_logs(silo_path), f"{name}{end}")


def log_files(silo_path: str) -> list[str]:
    """The paths of all logs there are, sorted; of what is named like one."""
    directory = _logs(silo_path)
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    return [os.path.join(directory, one) for one in names if one.endswith(".log")]


index_directory = crawling_place("index")
"""Where in the archives each address is: sorted CDXJ files."""
replay_file = crawling_place("replay.toml")
"""Where the operator says at which address the archives are replayed."""
heritrix_file = crawling_place("heritrix.toml")
"""Where people say which Heritrix there are, and what is expected of them."""
notices_file = crawling_place("notices.toml")
"""Where people say who is told what is not well."""
notices_told_file = crawling_place("notices.sqlite")
"""What they were told, and is not well yet."""


def comparison_directory(silo_path: str, name: str) -> str:
    """How a page out of the archive differs from the page as it was crawled."""
    return os.path.join(silo_path, "crawling", "comparisons", name)

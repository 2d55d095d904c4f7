"""Where in a Silo the crawls keep their files (docs/format-crawls.md)."""

import os


def targets_directory(silo_path: str) -> str:
    """The wishes: a TOML file for each target."""
    return _place(silo_path, "targets")


def queues_file(silo_path: str) -> str:
    """The messages that are to be worked on, and how far each target was launched."""
    return _place(silo_path, "queues.sqlite")


def broker_file(silo_path: str) -> str:
    """The URL of the Redis that has the messages instead; only its owner may read it."""
    return _place(silo_path, "broker")


def broker_name_file(silo_path: str) -> str:
    """The name of the crawl to which that Redis has to belong."""
    return _place(silo_path, "broker-name")


def amqp_file(silo_path: str) -> str:
    """The RabbitMQ to and from which messages are bridged."""
    return _place(silo_path, "amqp.toml")


def answers_file(silo_path: str) -> str:
    """What each address answered last, and what the crawl of each seed has spent."""
    return _place(silo_path, "answers.sqlite")


def catalogue_file(silo_path: str) -> str:
    """What became of each document: attached, proposed or rejected, why, and by whom."""
    return _place(silo_path, "catalogue.sqlite")


def archives_directory(silo_path: str) -> str:
    """What was fetched: WARC files."""
    return _place(silo_path, "warcs")


def places_file(silo_path: str) -> str:
    """Where archive files are that are not in the Silo."""
    return _place(silo_path, "places.tsv")


def imported_file(silo_path: str) -> str:
    """Which WARC files were taken in from elsewhere: a line of JSON for each."""
    return _place(silo_path, "imported.jsonl")


def log_file(silo_path: str, launch: str, node: str = "") -> str:
    """What became of each address of a launch: a crawl log in the form of Heritrix.

    Args:
        silo_path: The Silo.
        launch: Name of the launch.
        node: Name of the machine, if others write logs of the same launch.
    """
    name = launch.replace("/", "-") or "injected"
    end = f".{node}.log" if node else ".log"
    return os.path.join(_place(silo_path, "logs"), f"{name}{end}")


def log_files(silo_path: str) -> list[str]:
    """The paths of all logs there are, sorted; of what is named like one."""
    directory = _place(silo_path, "logs")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    return [os.path.join(directory, one) for one in names if one.endswith(".log")]


def index_directory(silo_path: str) -> str:
    """Where in the archives each address is: sorted CDXJ files."""
    return _place(silo_path, "index")


def replay_file(silo_path: str) -> str:
    """Where the operator says at which address the archives are replayed."""
    return _place(silo_path, "replay.toml")


def heritrix_file(silo_path: str) -> str:
    """Where people say which Heritrix there are, and what is expected of them."""
    return _place(silo_path, "heritrix.toml")


def notices_file(silo_path: str) -> str:
    """Where people say who is told what is not well."""
    return _place(silo_path, "notices.toml")


def notices_told_file(silo_path: str) -> str:
    """What they were told, and is not well yet."""
    return _place(silo_path, "notices.sqlite")


def comparison_directory(silo_path: str, name: str) -> str:
    """How a page out of the archive differs from the page as it was crawled."""
    return os.path.join(_place(silo_path, "comparisons"), name)


def _place(silo_path: str, name: str) -> str:
    return os.path.join(silo_path, "crawling", name)

"""Tell robots and machines from people, by their user agents.

COUNTER publishes the list of robots; the package `counter-robots` carries it, with the list of
machines (scripts) of the Code of Practice for Research Data, which are kept apart.
"""

import functools
import re
from collections.abc import Iterable
from enum import StrEnum
from importlib.resources import files

from usagestats.expressions import Expression
from usagestats.packages import needed

ADDED_ON = "2026-11-23"
ADDED = (
    # Robots of language models whose bare names the list of COUNTER does not match in any case.
    "gptbot", "chatgpt-user", "oai-searchbot", "claudebot", "claude-user", "claude-searchbot",
    "claude-web", "anthropic-ai", "ccbot", "perplexitybot", "perplexity-user", "bytespider",
    "amazonbot", "applebot", "google-extended", "googleother", "google-cloudvertexbot",
    "meta-externalagent", "meta-externalfetcher", "facebookbot", "cohere-ai", "diffbot", "youbot",
    "timpibot", "imagesiftbot", "omgilibot", "petalbot", "duckassistbot", "mistralai-user",
    "ai2bot", "iaskspider", "kangaroo bot", "pangubot", "semrushbot-ocob", "sidetrade",
    "velenpublicwebcrawler", "webzio-extended", "firecrawlagent", "novaact", "scrapy",
)  # fmt: skip
"""Names added to COUNTER's list on `ADDED_ON`, matched as words in any case."""
_ADDED = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, ADDED))})(?![a-z0-9])")


class AgentKind(StrEnum):
    """Whose program sent a request."""

    PERSON = "person"
    ROBOT = "robot"
    MACHINE = "machine"


class RobotLists:
    """The lists, with expressions of a Silo's own.

    Args:
        own: Regular expressions; an agent in which one is found is a robot.

    Attributes:
        own: The expressions of the Silo's own.
        version: The versions of the lists, for reports.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        counter = needed("counter_robots")
        self._is_robot, self._is_machine = counter.is_robot, counter.is_machine
        self.own = [Expression(one) for one in own]
        ours = f" + {len(self.own)} of this Silo" if self.own else ""
        self.version = f"COUNTER list {counter.__version__} + {len(ADDED)} of our own{ours}"
        self.agent = functools.lru_cache(10_000)(self._agent)

    def _agent(self, text: str) -> AgentKind:
        """Whose program has this user agent."""
        if self._is_machine(text):
            return AgentKind.MACHINE
        if self._is_robot(text) or _ADDED.search(text.lower()):
            return AgentKind.ROBOT
        return AgentKind.ROBOT if any(one.search(text) for one in self.own) else AgentKind.PERSON

    def why(self, text: str) -> str:
        """Return the entry of a list that makes this user agent a robot or a machine."""
        data = files("counter_robots") / "data"
        for name in ("machine", "robot"):
            for entry in (data / f"{name}.txt").read_text("utf-8").splitlines():
                if re.search(entry, text):
                    return f"{entry} in COUNTER's list"
        if found := _ADDED.search(text.lower()):
            return f"{found[0]} in our own list of {ADDED_ON}"
        own = next((one for one in self.own if one.search(text)), None)
        return f"{own.text} in usage.toml" if own else ""

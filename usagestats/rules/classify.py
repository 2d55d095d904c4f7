"""What becomes of a log line, of an import, a trial or a live one.

The one other place that decides it is `usagestats.importing.blocks`, which does the same for plain
lines in arrays; the tests compare the two.

Source: COUNTER Code of Practice, Release 5.1, sections 7.1 (return codes) and 7.8 (robots).
"""

from dataclasses import dataclass

from usagestats.expressions import Expression
from usagestats.lines.readers import Reader
from usagestats.rules.patterns import Patterns, Resolve
from usagestats.rules.robots import AgentKind, RobotLists
from usagestats.rules.settings import UsageSettings
from usagestats.values import Fate, Hit, Use

COUNTED_STATUSES = frozenset({200, 304})
UNREADABLE = "not of the log's format"
ROBOT, MACHINE = "a robot", "a machine"
EMPTY, DIRECTIVE = "an empty line", "a directive"
NO_REQUEST, NOT_GET, NOT_FOUND = "no HTTP request", "not GET", "not found"
NO_PATTERN = "no pattern fits"
LATE = "too late: the day is frozen"


@dataclass(frozen=True, slots=True)
class Classified:
    """What became of a line.

    Attributes:
        fate: What it is counted as in the receipt.
        reason: Why it is not counted, in words; ``""`` if it is.
        hit: The request, if the line could be read.
        use: The use, if the request was one; also that of a machine, which is kept apart.
        machine: Whether it is the request of a machine.
    """

    fate: Fate
    reason: str = ""
    hit: Hit | None = None
    use: Use | None = None
    machine: bool = False


class Rules:
    """The settings, prepared for many lines.

    Args:
        settings: Of the Silo.
        resolve: Finds the full form of an identifier.
        by_link: Finds the record with a link to a path.
        by_uuid: Finds the record with a UUID.
    """

    def __init__(
        self,
        settings: UsageSettings,
        resolve: Resolve = lambda text: text,
        by_link: Resolve = lambda _: "",
        by_uuid: Resolve = lambda _: "",
    ) -> None:
        self.settings = settings
        self.robots = RobotLists(settings.robots)
        self.patterns = Patterns(settings.patterns, resolve, by_link, by_uuid)

    def agent(self, text: str, *, has_agent: bool = True) -> AgentKind:
        """Whose program sent a request; nobody is a robot in a log without user agents."""
        return self.robots.agent(text) if has_agent else AgentKind.PERSON

    @property
    def own(self) -> list[Expression]:
        """Return the expressions of the Silo's own."""
        return [*self.robots.own, *self.patterns.own]

    @staticmethod
    def refusal(method: str, status: int) -> str:
        """Return why a readable request cannot be a use; ``""`` if it can."""
        if not method:
            return NO_REQUEST
        if method != "GET":
            return NOT_GET
        if status == 404:
            return NOT_FOUND
        return "" if status in COUNTED_STATUSES else f"status {status}"


def classify(line: bytes, reader: Reader, rules: Rules) -> Classified:
    """Decide what becomes of a line.

    A line that can be read is a robot's first, whatever it asked for; then the method, the status
    and the patterns decide. The uses of machines are recognised, to be kept apart.

    Args:
        line: Without its LF.
        reader: Of the log's format.
        rules: Of the Silo.
    """
    hit = reader.read(line)
    if hit is None:
        if not line.strip():
            return Classified(Fate.OTHER, EMPTY)
        if reader.is_directive(line):
            return Classified(Fate.OTHER, DIRECTIVE)
        return Classified(Fate.UNREADABLE, UNREADABLE)
    agent = rules.agent(hit.agent, has_agent=reader.has_agent)
    if agent is AgentKind.ROBOT:
        return Classified(Fate.BOT, ROBOT, hit)
    refusal = rules.refusal(hit.method, hit.status)
    use = None if refusal else rules.patterns.use(hit.path)
    if agent is AgentKind.MACHINE:
        return Classified(Fate.BOT, MACHINE, hit, use, machine=True)
    if use is None:
        return Classified(Fate.OTHER, refusal or NO_PATTERN, hit)
    return Classified(Fate.COUNTED, "", hit, use)

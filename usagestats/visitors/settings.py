"""The settings of the two steps, as frozen values with the names of 2010."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StepRoute:
    """Where a step reads and writes.

    Attributes:
        brokers: Such as ``kafka1:9092,kafka2:9092``.
        source: Topic to read.
        target: Topic to write.
        dead_letters: Topic for events that cannot be processed, with the reason as a header.
        group: Consumer group; processes of one group share the partitions.
        settings: Further settings of librdkafka. A name that begins with ``consumer.`` or
            ``producer.`` is for one of the two.
        batch: Most events in a transaction.
        wait: Seconds for which a batch is collected.
    """

    brokers: str
    source: str
    target: str
    dead_letters: str
    group: str
    settings: Mapping[str, str] = field(default_factory=dict)
    batch: int = 500
    wait: float = 0.2

    @property
    def topics(self) -> tuple[str, str, str]:
        """All three topics."""
        return self.source, self.target, self.dead_letters


@dataclass(frozen=True, slots=True)
class FieldNames:
    """The fields of a flattened event that make a profile.

    Attributes:
        event_type: Says what kind of event it is.
        page_view: Value of `event_type` for a page view.
        time: Field with the time of the event: seconds or milliseconds since 1970, or
            ISO 8601. Without one, or where it cannot be read, the message's time counts.
    """

    user: str = "query-other_domain_userid"
    session: str = "query-other_domain_sessionid"
    event_type: str = "query-other_eventtype"
    page_view: str = "Pageview"
    page: str = "query-other_page_title"
    time: str = ""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How profiles are kept.

    Attributes:
        prefix: Begins the keys in Redis: ``vp:{user}``.
        days: A profile expires this many days after the visitor's last event.
    """

    prefix: str = "vp"
    days: int = 395

"""A client of the Redis of a fleet (the extra ``fleet``), and its errors as sentences."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from recordsilo.extras import needed
from silofleet.errors import BrokerUnreachable, FleetRefused

_SECONDS_TO_ANSWER = 10.0
P = ParamSpec("P")
T = TypeVar("T")


def redis_at(url: str) -> Any:
    """Return a client of the Redis at a URL; connects to nothing yet.

    Raises:
        PackageMissing: redis is not installed.
        FleetRefused: The URL is wrong.
    """
    redis = needed("redis", "a broker", "fleet")
    try:
        return redis.Redis.from_url(
            url, socket_timeout=_SECONDS_TO_ANSWER, socket_connect_timeout=_SECONDS_TO_ANSWER
        )
    except ValueError as error:
        raise FleetRefused(f"the address of the broker is wrong: {error}") from None


def broker_error(error: Exception) -> BrokerUnreachable:
    """Make the error of a fleet from one of redis or Celery."""
    return BrokerUnreachable(str(error) or type(error).__name__)


def unreachable(method: Callable[P, T]) -> Callable[P, T]:
    """Turn the errors of redis and Celery in a method into `BrokerUnreachable`."""

    @wraps(method)
    def asked(*given: P.args, **named: P.kwargs) -> T:
        from kombu.exceptions import KombuError  # noqa: PLC0415  # an extra
        from redis import RedisError  # noqa: PLC0415  # likewise

        try:
            return method(*given, **named)
        except (RedisError, KombuError, OSError) as error:
            raise broker_error(error) from None

    return asked

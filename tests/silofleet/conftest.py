"""A real Redis, skipped where it is missing, but not in CI; servers that keep notices."""

from mails_and_hooks import hook, mails
from redis_server import broker, redis_url

__all__ = ["broker", "hook", "mails", "redis_url"]

"""A real Redis; skipped where it is missing, but not in CI."""

from redis_server import broker, redis_url

__all__ = ["broker", "redis_url"]

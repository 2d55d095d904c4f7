"""The web page: browse and curate a Silo in the browser, or use the same as JSON.

Follow a request: `server` → `app` → `security` → `routes` → `pages` → `rendering`.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

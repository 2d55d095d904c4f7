"""The page: browse and curate a Silo in the browser, and the same as JSON.

Read it as a request goes: `server` → `app` → `security` → `routes` → `pages` → `rendering`.
"""

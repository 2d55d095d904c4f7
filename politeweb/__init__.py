"""Requests over HTTP that any server may be sent: patient, bounded, and polite.

Retries and Retry-After, a pace for each host, proxies, limits of size and time, redirects
and private addresses, robots.txt, credentials kept where they belong, and WARC files. It
knows nothing of what is fetched, or why.

Read `settings` first, then `connections`, `answers` and `files`.
"""

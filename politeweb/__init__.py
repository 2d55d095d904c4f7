"""Polite HTTP requests: with retries, limits and pauses.

Retries and Retry-After, a pace for each host, proxies, limits of size and time, redirects
and private addresses, robots.txt, credentials for the right host only, and WARC files. The package
does not depend on what is fetched.

    settings      how requests are sent, limits on responses, headers
    sessions      one request without side effects; which host gets credentials
    connections   one request and response, within limits of time and size
    exchange      one request, and its answer or failure as a value; redirects are not followed
    attempts      how often a request is repeated, and after which pauses
    answers       responses and their headers: Retry-After, dates, types
    pace          when any thread may send the next request to a host
    shared_pace   the same for any process of a machine, or of several machines
    public_hosts  refuses private addresses; robots: what robots.txt allows
    files         downloads files with all of it; warc/: reads and writes WARC files
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

"""Requests over HTTP that any server may be sent: patient, bounded, and polite.

Retries and Retry-After, a pace for each host, proxies, limits of size and time, redirects
and private addresses, robots.txt, credentials kept where they belong, and WARC files. It
knows nothing of what is fetched, or why.

    settings      how requests are sent, and the limits on answers; their headers
    sessions      which request may be sent, and to whom credentials go
    connections   one request, one answer, within limits of time and size
    attempts      how often a request is repeated, and after which pause
    answers       what the headers of an answer say: Retry-After, dates, types
    pace          when a host may be asked again, by any thread
    public_hosts  refuses private addresses; robots: what robots.txt allows
    files         downloads files with all of it; warc/: reads and writes WARC files
"""

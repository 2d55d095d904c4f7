"""Messages as Heritrix's `AMQPCrawlLogFeed` sends them."""

import json


def outcome(number: int = 1, **more: object) -> bytes:
    """What Heritrix's feed says of an address."""
    table = {
        "timestamp": "2026-11-24T06:11:49.500Z", "content_length": 1200, "size": 1400,
        "status_code": 200, "url": f"http://a.example/{number}", "hop_path": "", "via": None,
        "mimetype": "text/html", "thread": 1, "start_time_plus_duration": "20261124061149123+45",
        "content_digest": "sha1:" + "A" * 32, "seed": "http://a.example/", "host": "a.example",
        "annotations": "receivedFromAMQP", "warc_filename": "a.warc.gz", "warc_offset": 4711,
        "extra_info": {},
    }  # fmt: skip
    return json.dumps(table | more).encode()

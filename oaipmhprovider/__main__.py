"""``python -m oaipmhprovider``: serve the sample repository until Ctrl-C."""

import argparse
import signal
import sys
import threading

from oaipmhprotocol import Granularity
from oaipmhprovider.provider import Settings
from oaipmhprovider.server import SampleServer
from politeweb.listening import CannotListen

_GRANULARITIES = {"day": Granularity.DAY, "second": Granularity.SECOND}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m oaipmhprovider",
        description="Serve the sample repository on 127.0.0.1 until Ctrl-C.",
    )
    parser.add_argument("--port", type=_port, default=0, help="0 (the default) chooses a free port")
    parser.add_argument("--size", type=int, default=3200, help="number of records (3200)")
    parser.add_argument("--granularity", choices=_GRANULARITIES, default="second")
    parser.add_argument("--page-size", type=int, default=100, help="records in one response (100)")
    return parser.parse_args()


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; use 0 to 65535")
    return port


def main() -> int:
    """Print the base URL on its own line, then serve until SIGINT or SIGTERM."""
    given = _arguments()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = SampleServer(
            given.port,
            size=given.size,
            granularity=_GRANULARITIES[given.granularity],
            settings=Settings(page_size=given.page_size),
        )
    except CannotListen as error:
        sys.stderr.write(f"{error}\n")
        return 1
    with server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        while not stop.wait(1.0):  # a signal that comes as a wait begins does not end it
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Errors of a fleet as answers of the page."""

from collections.abc import Iterator
from contextlib import contextmanager

from silofleet.errors import FleetError, FleetRefused, NoSuchEndpoint
from webui.directory import DirectoryCall
from webui.http.errors import BadRequest, NotFound, ServerBusy, as_sentence


@contextmanager
def fleet_told(call: DirectoryCall) -> Iterator[None]:
    """Convert errors of the fleet to answers."""
    try:
        yield
    except NoSuchEndpoint as error:
        raise NotFound("There is no endpoint of this name.") from error
    except FleetRefused as error:
        raise BadRequest(as_sentence(str(error))) from error
    except FleetError as error:
        bare = str(error).replace(call.site.path, call.site.name)
        raise ServerBusy(as_sentence(bare)) from error

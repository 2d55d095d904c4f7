"""Errors as a prompt shows them: the lines of the user, and the sentence."""

import os
import traceback

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGES = frozenset({
    "crawlmatch", "filestores", "infopackages", "oaipmhclient", "oaipmhprotocol",
    "oaipmhprovider", "oaipmhscraper", "politeweb", "recordsilo", "silocrawl", "silocuration",
    "siloexport", "silofleet", "siloimport", "siloprovider", "silosteps", "silowork", "usagestats",
    "webui",
})  # fmt: skip
"""Ours, which are installed side by side."""
_PROMPTS = ("IPython", "ipykernel")


def frames_and_sentence(error: BaseException) -> list[str]:
    """The lines of a short traceback: the frames of the user's code, and the sentence.

    The frames below, and the errors that led to this one, are left out; ``%debug`` has them.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not _is_of_the_prompt(one.filename)]
    first = next((n for n, one in enumerate(own) if _is_ours(one.filename)), len(own))
    lines = [line.rstrip("\n") for line in traceback.format_list(own[:first])]
    return [*lines, f"{type(error).__name__}: {error}"]


def _is_ours(path: str) -> bool:
    return path.startswith(_HERE) and path[len(_HERE) + 1 :].partition(os.sep)[0] in PACKAGES


def _is_of_the_prompt(path: str) -> bool:
    return os.path.basename(path) == "code.py" or any(
        f"{os.sep}{name}{os.sep}" in path for name in _PROMPTS
    )

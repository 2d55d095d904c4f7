"""Errors of imports."""


class ImportProblem(Exception):
    """A record or a whole source cannot be imported; the text is a sentence."""

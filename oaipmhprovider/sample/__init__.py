"""The sample repository: a made-up university's EPrints, for demonstrations and tests.

Its records are composed from their numbers by rules over word lists, in several
languages and scripts; the same number gives the same record on every machine.
"""

from oaipmhprovider.sample.repository import SampleRepository, sample_repository

__all__ = ["SampleRepository", "sample_repository"]

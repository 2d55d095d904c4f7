"""The sample repository: a made-up university's EPrints, for demonstrations and tests.

Rules and word lists make each record from its number, in several languages and scripts; the
same number gives the same record on every machine.
"""

from oaipmhprovider.sample.repository import SampleRepository, sample_repository

__all__ = ["SampleRepository", "sample_repository"]

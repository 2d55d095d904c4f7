"""Shared by the provider's tests: the sample repository, and who asks it (`provider_asker`)."""

from collections.abc import Callable

import pytest
from provider_asker import NAMESPACES, NOW, Asker, Validate, validator

from oaipmhprovider import RecordSource, Settings, sample_repository
from oaipmhprovider.sample import SampleRepository

__all__ = ["NAMESPACES", "NOW", "Asker", "Validate"]


@pytest.fixture(scope="session")
def validate() -> Validate:
    return validator()


@pytest.fixture(scope="session")
def repository() -> SampleRepository:
    return sample_repository()


@pytest.fixture(scope="session")
def ask(validate: Validate, repository: SampleRepository) -> Asker:
    return Asker(validate, repository, Settings())


@pytest.fixture(scope="session")
def asker(validate: Validate) -> Callable[..., Asker]:
    def make(source: RecordSource, settings: Settings | None = None) -> Asker:
        return Asker(validate, source, settings or Settings())

    return make

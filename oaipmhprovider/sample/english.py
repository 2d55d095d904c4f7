"""The disciplines of the sample university, in English."""

from oaipmhprovider.sample.discipline import Discipline
from oaipmhprovider.sample.humanities import HUMANITIES
from oaipmhprovider.sample.sciences import SCIENCES

DISCIPLINES: tuple[Discipline, ...] = (*SCIENCES, *HUMANITIES)

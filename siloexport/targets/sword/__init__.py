"""A repository that takes deposits by SWORDv2."""

from siloexport.targets.sword.package import METS_SIP, PACKAGINGS, SIMPLE_ZIP
from siloexport.targets.sword.target import SwordSettings, SwordTarget

__all__ = ["METS_SIP", "PACKAGINGS", "SIMPLE_ZIP", "SwordSettings", "SwordTarget"]

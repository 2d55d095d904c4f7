"""A repository on InvenioRDM, such as Zenodo."""

from siloexport.targets.invenio.target import InvenioSettings, InvenioTarget

__all__ = ["InvenioSettings", "InvenioTarget"]

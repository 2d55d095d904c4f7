"""The E-ARK layout of a package: which documents it has, and where.

PACKAGE/
  METS.xml                                  the whole package
  metadata/descriptive/  metadata/preservation/
  documentation/  schemas/
  representations/NAME/METS.xml  metadata/  data/

Source: E-ARK CSIP 2.2.0, section 4, "CSIP structure"; SIP 2.2.0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files as resources

from infopackages.files import XML, Add, PackagedFile, add_chunks, add_written
from infopackages.mets import EXTENSION, FileGroup, MetadataFile, Mets, MetsAgent, write_mets

METS = "METS.xml"
DESCRIPTIVE, DOCUMENTATION = "metadata/descriptive", "documentation"
PREMIS = "metadata/preservation/premis.xml"


@dataclass(frozen=True, slots=True)
class Representation:
    """A representation; all paths are below its directory.

    Attributes:
        name: Of its directory below ``representations/``.
        label: For people.
        files: Below ``data/``; read once.
        metadata: Below ``metadata/``.
    """

    name: str
    label: str
    files: Iterable[PackagedFile]
    metadata: tuple[MetadataFile, ...] = ()

    @property
    def directory(self) -> str:
        """Its directory, below the package's."""
        return f"representations/{self.name}"


@dataclass(frozen=True, slots=True)
class InformationPackage:
    """A package; all paths are below its directory.

    Attributes:
        identifier: Of the package: the name of its directory (CSIP1).
        label: For people.
        category: Of its content: a term of the CSIP vocabulary, such as ``Web Archives``.
        created: In ISO 8601, with a time zone.
        agents: Who made and who submits it.
        metadata: Below ``metadata/``.
        documentation: Below ``documentation/``.
        representations: At least one.
        document: See `infopackages.mets.Mets`.
    """

    identifier: str
    label: str
    category: str
    created: str
    agents: tuple[MetsAgent, ...]
    metadata: tuple[MetadataFile, ...]
    representations: tuple[Representation, ...]
    documentation: tuple[PackagedFile, ...] = ()
    document: str = ""


def add_descriptions(add: Add, package: InformationPackage) -> Iterator[PackagedFile]:
    """Add what describes a package: its schemas, the METS of each representation, and its own.

    Args:
        add: Gets paths below the package's directory; the METS of the package comes last.
        package: Its other files exist, or are added by the caller.

    Yields:
        Each file that was added.
    """
    schema = _schema(add, EXTENSION)
    yield schema
    groups = [FileGroup("Schemas", (schema,))]
    if package.documentation:
        groups.append(FileGroup("Documentation", package.documentation))
    for one in package.representations:
        mets = add_written(
            add, f"{one.directory}/{METS}", partial(write_mets, mets=_of(one, package))
        )
        yield mets
        groups.append(FileGroup(f"Representations/{one.name}", (mets,), represented=True))
    whole = _mets(package, package.identifier, package.label)
    whole = replace(
        whole,
        agents=package.agents,
        metadata=package.metadata,
        groups=tuple(groups),
        document=package.document,
    )
    yield add_written(add, METS, partial(write_mets, mets=whole))


def _of(one: Representation, package: InformationPackage) -> Mets:
    mets = _mets(package, one.name, one.label)
    groups = (FileGroup("Data", one.files),)
    return replace(mets, metadata=one.metadata, groups=groups, schemas="../../")


def _mets(package: InformationPackage, identifier: str, label: str) -> Mets:
    return Mets(identifier, label, package.category, package.created)


def _schema(add: Add, name: str) -> PackagedFile:
    content = (resources("infopackages") / "schemas" / name).read_bytes()
    return add_chunks(add, PackagedFile(f"schemas/{name}", len(content), "", XML), [content])

"""Kinds of targets on other servers, which take deposits over the network."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from siloexport.server_places import DepositServers
from siloexport.target_kinds import FieldAvailability, FormField, Opening, TargetKind
from siloexport.targets import Target
from silowork.forms import Input

_PACKAGINGS = ("simple", "mets")
_SWORDS = DepositServers(
    "sword", ("collection", "packaging", "on_behalf_of", "in_progress", "in_steps", "plain_http")
)
_INVENIOS = DepositServers("invenio", ("community", "publish", "plain_http"))


@contextmanager
def _sword(opening: Opening) -> Iterator[Target]:
    from siloexport.targets.remote.credentials import login  # noqa: PLC0415 - slow
    from siloexport.targets.remote.server import Server, checked_address  # noqa: PLC0415
    from siloexport.targets.sword import PACKAGINGS, SwordSettings, SwordTarget  # noqa: PLC0415

    place = _SWORDS.chosen(opening.silo_path, opening.values)
    get = place.options.get
    url = checked_address(place.url, plain=get("plain_http") == "yes")
    settings = SwordSettings(
        PACKAGINGS[get("packaging") or _PACKAGINGS[0]],
        get("collection") or "",
        get("on_behalf_of") or "",
        get("in_progress") == "yes",
        get("in_steps") == "yes",
    )
    with Server(url, login(place.credentials, os.environ, "SWORD")) as server:
        yield SwordTarget(url, server, settings)


@contextmanager
def _invenio(opening: Opening) -> Iterator[Target]:
    from siloexport.targets.invenio import InvenioSettings, InvenioTarget  # noqa: PLC0415 - slow
    from siloexport.targets.remote.credentials import token  # noqa: PLC0415
    from siloexport.targets.remote.server import Server, checked_address  # noqa: PLC0415

    place = _INVENIOS.chosen(opening.silo_path, opening.values)
    get = place.options.get
    url = checked_address(place.url, plain=get("plain_http") == "yes")
    settings = InvenioSettings(get("publish") == "yes", get("community") or "")
    with Server(url, token(place.credentials, os.environ, "INVENIO")) as server:
        yield InvenioTarget(url, server, settings)


def _credentials(what: str, variables: str) -> FormField:
    return FormField(
        "credentials",
        "Credentials",
        help=f"A file with {what}; else {variables}.",
        metavar="FILE",
        asked=FieldAvailability.COMMAND,
    )


def _repository(servers: DepositServers) -> FormField:
    return FormField(
        "place",
        "Repository",
        Input.CHOICE,
        choices_of=servers.choices,
        asked=FieldAvailability.PAGE,
    )


def _address(example: str) -> FormField:
    return FormField(
        "url",
        "Address",
        required=True,
        metavar="URL",
        example=example,
        asked=FieldAvailability.COMMAND,
        is_argument=True,
    )


_PLAIN_HTTP = FormField(
    "plain_http",
    "Without encryption",
    Input.TICK,
    help="Send credentials over http, without encryption, to another machine.",
    asked=FieldAvailability.COMMAND,
)
SWORD = TargetKind(
    "sword",
    "SWORD",
    "Deposit by SWORD",
    """Deposit records in a repository by SWORDv2 (DSpace, EPrints, Dataverse and others).

    URL is a service document, or a collection. Each record becomes a deposit with its
    description and a package of its files. User and password come from a file
    (--credentials), or from SWORD_USER and SWORD_PASSWORD.
    """,
    (
        _address("https://repository.example.org/swordv2/servicedocument"),
        _credentials("user:password", "SWORD_USER and SWORD_PASSWORD"),
        _repository(_SWORDS),
        FormField(
            "collection",
            "Collection",
            metavar="NAME",
            help="Title or address of the collection, if there are several.",
        ),
        FormField(
            "packaging",
            "Packages",
            Input.CHOICE,
            help="How files are packed: a plain zip (simple), or one with METS for DSpace (mets).",
            asked=FieldAvailability.COMMAND,
            choices=(("simple", "SimpleZip"), ("mets", "METSDSpaceSIP")),
        ),
        FormField(
            "on_behalf_of",
            "On behalf of",
            metavar="USER",
            help="Deposit on behalf of this user of the repository.",
            asked=FieldAvailability.COMMAND,
        ),
        FormField(
            "in_progress",
            "Leave deposits open",
            Input.TICK,
            help="Leave deposits open, to be completed in the repository.",
        ),
        FormField(
            "in_steps",
            "In steps",
            Input.TICK,
            help="Send descriptions and files one after the other, for servers that do not take "
            "both at once.",
            asked=FieldAvailability.COMMAND,
        ),
        _PLAIN_HTTP,
    ),
    (
        "silo export sword myrepo https://repository.example.org/swordv2/servicedocument",
        "silo export sword verify myrepo https://repository.example.org/swordv2/servicedocument",
    ),
    open=_sword,
    check=_SWORDS.check,
    hint="Each record becomes a deposit. What others changed there is kept.",
    explained="Deposits in another repository, by SWORDv2.",
    missing="No repository is set up for deposits by SWORD. The administrator of the server names "
    "them in curation/sword.toml.",
    order=31,
)
INVENIO = TargetKind(
    "invenio",
    "InvenioRDM",
    "Deposit in InvenioRDM or Zenodo",
    """Deposit records in a repository on InvenioRDM, such as Zenodo.

    URL is the address of the repository. Each record becomes a draft; with --publish, a
    published record, and each of its versions a version there. The token comes from a file
    (--credentials), or from INVENIO_TOKEN.
    """,
    (
        _address("https://sandbox.zenodo.org"),
        _credentials("the token", "INVENIO_TOKEN"),
        _repository(_INVENIOS),
        FormField(
            "community",
            "Community",
            metavar="NAME",
            help="Community that the records are for.",
        ),
        FormField(
            "publish",
            "Publish",
            Input.TICK,
            help="Publish the records. They cannot be unpublished.",
        ),
        _PLAIN_HTTP,
    ),
    (
        "silo export invenio myrepo https://sandbox.zenodo.org --credentials token",
        "silo export invenio myrepo https://sandbox.zenodo.org --publish --versions all",
    ),
    open=_invenio,
    check=_INVENIOS.check,
    hint="Each record becomes a draft, or a published record. What is published stays.",
    explained="Drafts or published records in a repository on InvenioRDM, such as Zenodo.",
    missing="No repository is set up for deposits in InvenioRDM. The administrator of the server "
    "names them in curation/invenio.toml.",
    order=32,
)

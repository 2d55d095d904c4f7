"""A repository that is one function from request to answer, and fixtures for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from oaipmhclient.client import Client
from politeweb.answers import Answer

ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    "<responseDate>{date}</responseDate><request>http://repo.example/oai</request>"
    "{content}</OAI-PMH>"
)
DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></oai_dc:dc>'
)
IDENTIFY = (
    "<Identify><repositoryName>Repository of tests</repositoryName>"
    "<baseURL>http://repo.example/oai</baseURL><protocolVersion>2.0</protocolVersion>"
    "<adminEmail>admin@repo.example</adminEmail>"
    "<earliestDatestamp>0001-01-01</earliestDatestamp>"
    "<deletedRecord>persistent</deletedRecord><granularity>{granularity}</granularity>"
    "{descriptions}</Identify>"
)


def envelope(content: str, date: str = "2010-11-20T12:00:00Z") -> bytes:
    return ENVELOPE.format(date=date, content=content).encode()


def error(code: str, text: str = "") -> str:
    return f'<error code="{code}">{text}</error>'


@dataclass
class Item:
    """A record of the fake repository; `formats` maps prefixes to metadata documents."""

    identifier: str
    datestamp: str
    formats: dict[str, str]
    sets: tuple[str, ...] = ()
    deleted: bool = False
    about: tuple[str, ...] = ()

    def xml(self, prefix: str) -> str:
        status = ' status="deleted"' if self.deleted else ""
        sets = "".join(f"<setSpec>{spec}</setSpec>" for spec in self.sets)
        header = (
            f"<header{status}><identifier>{self.identifier}</identifier>"
            f"<datestamp>{self.datestamp}</datestamp>{sets}</header>"
        )
        if self.deleted:
            return f"<record>{header}</record>"
        about = "".join(f"<about>{one}</about>" for one in self.about)
        return f"<record>{header}<metadata>{self.formats[prefix]}</metadata>{about}</record>"


@dataclass
class FakeRepository:
    """Answers ListRecords, ListIdentifiers, Identify, ListSets from what the test puts in it.

    Tokens are ``prefix:offset``. `answers` overrides: the first function that returns
    bytes for a request's parameters wins.
    """

    items: list[Item] = field(default_factory=list)
    page_size: int = 100
    date: str = "2010-11-20T12:00:00Z"
    granularity: str = "YYYY-MM-DD"
    descriptions: str = ""
    promise: int | None = None
    sets: dict[str, str] = field(default_factory=dict)
    answers: list[Callable[[Mapping[str, str]], bytes | None]] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)

    def add(self, identifier: str, datestamp: str = "2010-01-01", title: str = "A title", **more):
        formats = more.pop("formats", {"oai_dc": DC.format(title=title)})
        item = Item(identifier, datestamp, formats, **more)
        self.items = [one for one in self.items if one.identifier != identifier] + [item]
        return item

    def fetch(self, params: Mapping[str, str]) -> Answer:
        self.requests.append(dict(params))
        for answer in self.answers:
            body = answer(params)
            if body is not None:
                return Answer(body, "http://repo.example/oai")
        return Answer(envelope(self.content(params), self.date), "http://repo.example/oai")

    def content(self, params: Mapping[str, str]) -> str:
        match params["verb"]:
            case "Identify":
                return IDENTIFY.format(granularity=self.granularity, descriptions=self.descriptions)
            case "ListSets":
                return self._sets()
            case "ListMetadataFormats":
                return (
                    "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>"
                    "<schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>"
                    "<metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/"
                    "</metadataNamespace></metadataFormat></ListMetadataFormats>"
                )
            case verb:
                return self._list(verb, params)

    def _sets(self) -> str:
        if not self.sets:
            return error("noSetHierarchy")
        found = "".join(
            f"<set><setSpec>{spec}</setSpec><setName>{name}</setName></set>"
            for spec, name in self.sets.items()
        )
        return f"<ListSets>{found}</ListSets>"

    def _list(self, verb: str, params: Mapping[str, str]) -> str:
        if "resumptionToken" in params:
            prefix, from_, set_spec, offset = params["resumptionToken"].split("|")
        else:
            prefix, offset = params["metadataPrefix"], "0"
            from_, set_spec = params.get("from", ""), params.get("set", "")
        until = params.get("until", "9999")
        chosen = [
            item
            for item in self.items
            if prefix in item.formats
            and from_[:10] <= item.datestamp[:10] <= until[:10]
            and (not set_spec or set_spec in item.sets)
        ]
        if not chosen:
            return error("noRecordsMatch", "nothing")
        begin = int(offset)
        page = chosen[begin : begin + self.page_size]
        content = "".join(item.xml(prefix) for item in page)
        if verb == "ListIdentifiers":
            content = "".join(item.xml(prefix).split("<metadata>")[0] for item in page)
            content = content.replace("<record>", "").replace("</record>", "")
        size = len(chosen) if self.promise is None else self.promise
        more = begin + self.page_size < len(chosen)
        value = f"{prefix}|{from_}|{set_spec}|{begin + self.page_size}" if more else ""
        if more or begin:
            content += (
                f'<resumptionToken completeListSize="{size}" cursor="{begin}">{value}'
                "</resumptionToken>"
            )
        return f"<{verb}>{content}</{verb}>"


@pytest.fixture
def repository() -> FakeRepository:
    """An empty repository with days as granularity."""
    return FakeRepository()


@pytest.fixture
def client(repository: FakeRepository) -> Client:
    return Client(repository)


@pytest.fixture
def page() -> Callable[..., bytes]:
    """`envelope`: the content of an answer → the answer's bytes."""
    return envelope


@pytest.fixture
def dc() -> Callable[[str], str]:
    """A title → a Dublin Core document."""
    return lambda title: DC.format(title=title)

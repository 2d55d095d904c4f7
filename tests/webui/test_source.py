"""The harvest and the response of a version, found in the harvest's files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from object_store import memory_files

from oaipmhprovider.server import SampleServer
from oaipmhscraper.harvests.archiving import Moved, archive, bring_back
from oaipmhscraper.progress import NoProgress
from recordsilo import Silo
from webui import urls
from webui.app import create_app
from webui.demo import harvest_sample
from webui.site import SiteSettings


@pytest.fixture(scope="module")
def demo(tmp_path_factory: Any) -> Iterator[Silo]:
    """A Silo of twelve records, harvested for these tests."""
    path = str(tmp_path_factory.mktemp("source") / "myrepo")
    with SampleServer(0, size=12) as sample:
        harvest_sample(path, sample, NoProgress())
    with Silo(path, create=False) as silo:
        yield silo


@pytest.fixture
def asked(demo: Silo, stage: Any, client: Any) -> Any:
    stage.app = create_app(demo, SiteSettings(agent="a.curator"))  # after `client` set its own
    return type(client)(stage.server.port)


def test_a_harvested_version_leads_to_the_response_that_held_it(asked: Any, demo: Silo) -> None:
    for identifier in list(demo)[:3]:
        found = asked.json(urls.version(identifier, "1", "source") + ".json")
        assert found["harvest"]["state"] == "whole"
        assert found["harvest"]["files"]
        assert found["response"]["where"].endswith(found["harvest"]["files"][0])
        assert found["response"]["request"].startswith("verb=ListRecords")
        assert f"<identifier>{identifier}</identifier>" in found["response"]["record"]
    assert asked.get(urls.version(identifier, "1", "source")).status == 200


def test_without_the_responses_the_harvest_is_told(asked: Any, demo: Silo) -> None:
    identifier = list(demo)[3]
    directory = os.path.join(demo.path, "harvests")
    hidden = [name for name in os.listdir(directory) if name.endswith(".warc.gz")]
    for name in hidden:
        os.rename(f"{directory}/{name}", f"{directory}/{name}.away")
    try:
        found = asked.json(urls.version(identifier, "1", "source") + ".json")
        assert found["harvest"]["files"] == []
        assert found["response"] is None
    finally:
        for name in hidden:
            os.rename(f"{directory}/{name}.away", f"{directory}/{name}")


def test_responses_in_an_object_store_are_named_and_not_fetched(
    asked: Any, demo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_files(monkeypatch)
    archive(demo.path, "memory://store/fleet", Moved())
    try:
        address = urls.version(list(demo)[3], "1", "source")
        found = asked.json(f"{address}.json")
        ((name, url),) = found["harvest"]["elsewhere"].items()
        assert (found["harvest"]["files"], found["response"]) == ([name], None)
        page = asked.get(address).text
        assert url in page
        assert "silo fleet archive --back DIR" in page
        assert not os.path.exists(os.path.join(demo.path, "harvests", name))
    finally:
        bring_back(demo.path, Moved())


def test_a_damaged_list_of_an_object_store_is_named(asked: Any, demo: Silo) -> None:
    path = Path(demo.path, "harvests", "elsewhere.jsonl")
    before = path.read_bytes() if path.exists() else b""
    path.write_bytes(before + b"no JSON\n")
    try:
        answer = asked.get(urls.version(list(demo)[3], "1", "source") + ".json")
        assert answer.status == 500
        assert "elsewhere.jsonl" in answer.error["message"]
    finally:
        path.write_bytes(before)


def test_a_version_that_was_made_here_has_no_harvest(client: Any, working_copy: str) -> None:
    answer = client.get(urls.version(working_copy, "workingcopy", "source") + ".json")
    assert (answer.status, answer.error["code"]) == (404, "not_found")


def test_a_version_of_no_known_harvest_says_so(client: Any) -> None:
    found = client.json(urls.version("oai:example.org:1", "1", "source") + ".json")
    assert (found["harvest"], found["response"]) == (None, None)
    assert "Unknown harvest" in client.get("/records/oai+example,org+1/versions/1/source").text

"""No answer of any server takes more than 600 MB: measured in a process of its own."""

import gzip
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from examples import family
from misbehaving import MisbehavingServer, Repository
from misbehaving.faults_of_hostile_servers import BOMBS, answering_with

from oaipmhclient.client import Client
from oaipmhclient.errors import PageOverfull, PageUnreadable
from oaipmhclient.mending.repair import read_records_mended
from oaipmhclient.transport.http_rules import MEMORY_FACTOR, memory_to_read, unpack_page
from politeweb.answers import Answer
from politeweb.errors import ResponseTooLarge
from recordsilo.formats import documents

MOST = 600 << 20
HARVEST = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from recordsilo.cli import silo_command
try:
    silo_command(sys.argv[1:])
finally:
    with open("/proc/self/status") as file:
        print("PEAK", next(int(line.split()[1]) << 10 for line in file if "VmHWM" in line))
"""


PAGE = (
    b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"%b><ListRecords>%b</ListRecords>'
    b"</OAI-PMH>"
)
RECORD = b"<record><header><identifier>x</identifier></header><metadata><m/></metadata></record>"


@pytest.mark.parametrize("dense", [b"<a/>", b"a=", b"<a>x</a>"])
def test_an_answer_of_much_markup_is_refused_before_it_is_parsed(dense):
    limit = 1 << 20
    with pytest.raises(ResponseTooLarge, match="bytes of memory") as refusal:
        unpack_page(gzip.compress(dense * (limit // 8)), "", limit, "http://r.example")
    assert refusal.value.memory > MEMORY_FACTOR * limit
    assert len(unpack_page(b"x" * limit, "", limit, "http://r.example")) == limit


@pytest.mark.parametrize("content", [PAGE % (b"", RECORD * 9), b"<a b='c'/>&&x", b""])
def test_what_is_harvested_is_within_what_the_store_reads_again(content):
    assert memory_to_read(content) == documents.memory_to_read(content)
    assert MEMORY_FACTOR == documents.MEMORY_FACTOR


@pytest.mark.parametrize("mends", family([b"", b"&"], 1))
@pytest.mark.long
def test_namespaces_that_every_record_would_repeat_are_refused(mends):
    declared = b"".join(b' xmlns:q%d="urn:%b"' % (n, b"q" * 100) for n in range(1000))
    with pytest.raises(PageOverfull):
        read_records_mended(PAGE % (declared, RECORD * 1000 + mends))
    few = read_records_mended(PAGE % (declared[:2000].rpartition(b" ")[0], RECORD * 1000 + mends))
    assert len(few.items) == 1000


@pytest.mark.long
@pytest.mark.parametrize("mends", family([b"", b"&"], 1))
def test_a_page_of_countless_unusable_records_is_refused(mends):
    unusable = RECORD.replace(b"x", b" ") + mends
    with pytest.raises(PageOverfull):
        read_records_mended(PAGE % (b"", unusable * 60_000))
    assert len(read_records_mended(PAGE % (b"", unusable * 1000)).set_aside) == 1000


def test_an_error_keeps_no_answer():
    bodies = []

    class Body(bytes):
        """Bytes that carry something whose end can be seen."""

    class Mark:
        """That."""

    class Hostile:
        def fetch(self, params):
            body = Body(b"<html>")
            body.mark = Mark()
            bodies.append(weakref.ref(body.mark))
            return Answer(body, "http://r.example")

    errors = []
    for _ in range(3):
        try:
            Client(Hostile()).identify()
        except PageUnreadable as error:
            errors.append(error)
    assert [str(one) for one in errors] == [str(errors[0])] * 3
    assert [body() for body in bodies] == [None] * 3


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_no_answer_takes_more_than_600_mb_to_harvest(name, tmp_path: Path):
    repository = Repository()
    answering_with(repository, BOMBS[name])
    with MisbehavingServer(repository) as server:
        arguments = ["harvest", server.base_url, str(tmp_path / "silo"), "--quiet"]
        ended = subprocess.run(
            [sys.executable, "-c", HARVEST, *arguments],
            cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
    assert "Traceback" not in ended.stderr
    assert ended.returncode in {0, 1, 3}
    assert int(ended.stdout.rpartition("PEAK ")[2]) < MOST

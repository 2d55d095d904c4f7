"""Lists of repositories in five forms: each address once, with a name; what is none is refused."""

import contextlib
import json
import re
import tracemalloc
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.disk.names import check_version_name
from silofleet.errors import FleetRefused
from silofleet.lists import FORMS, name_of, read_list

OAI = "https://eprints.example.org/cgi/oai2"


def urls(listed) -> list[str]:
    return [one.url for one in listed.endpoints]


def test_lines_have_comments_blanks_and_repeated_addresses():
    listed = read_list(
        f"# ours\n\n{OAI}   # the library\nhttp://b.example/oai#top\r\n{OAI}?verb=Identify\n".encode()
    )
    assert urls(listed) == [OAI, "http://b.example/oai"]
    assert (listed.refused, listed.repeated) == ([], 1)


def test_what_is_no_address_is_refused_with_its_place():
    listed = read_list(f"b.example/oai\n{OAI} Physics\nhttps://u:secret@c.example/oai\n".encode())
    assert listed.endpoints == []
    assert [where for where, _ in listed.refused] == ["line 1", "line 2", "line 3"]
    reasons = [reason for _, reason in listed.refused]
    assert "not an http or https URL" in reasons[0]
    assert "more than an address" in reasons[1]
    assert "netrc" in reasons[2]
    assert "secret" not in reasons[2]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_table_has_its_columns_named_in_the_first_line(delimiter):
    rows = [
        ["Title", "OAI-URL", "Name", "setSpec", "metadataPrefix", "every", "tags"],
        ["Ours", OAI, "Our Repository!", "a b", "mods", "12h", "uk theses"],
        ["", "", "", "", "", "", ""],
        ["Theirs", "http://b.example/oai", "our repository", "", "", "", ""],
        ["Odd", "http://c.example/oai", "", "", "", "soon", ""],
    ]
    listed = read_list("\n".join(delimiter.join(row) for row in rows).encode("utf-16"))
    ours, theirs = listed.endpoints
    assert (ours.name, ours.sets, ours.prefixes) == ("our-repository", ("a", "b"), ("mods",))
    assert (ours.every, ours.tags) == (timedelta(hours=12), ("uk", "theses"))
    assert re.fullmatch("our-repository-[0-9a-f]{6}", theirs.name)
    assert [where for where, _ in listed.refused] == ["line 5"]
    assert "30m, 12h or 2d" in listed.refused[0][1]


def test_a_table_keeps_repositories_apart_that_differ_in_their_sets():
    listed = read_list(f"url,set\n{OAI},a\n{OAI},b\n{OAI},a\n".encode())
    assert [one.sets for one in listed.endpoints] == [("a",), ("b",)]
    assert len({one.name for one in listed.endpoints}) == 2
    assert listed.repeated == 1


def test_a_table_without_a_column_of_addresses_is_refused():
    with pytest.raises(FleetRefused, match="no column of addresses"):
        read_list(b"name,home\na,b\n", "csv")


def test_listfriends_is_read_with_and_without_namespace():
    friends = f"<baseURL id='a.example'>{OAI}</baseURL><!-- - --><baseURL id='b'/>"
    for namespace in ("", " xmlns='http://www.openarchives.org/OAI/2.0/friends/'"):
        content = f"<?xml version='1.0'?>\n<BaseURLs{namespace}>{friends}</BaseURLs>"
        listed = read_list(content.encode())
        assert urls(listed) == [OAI]
        assert listed.refused == [("baseURL 2", "it has no address")]


def test_no_entity_of_a_list_is_expanded():
    evil = b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a><baseURL>&e;</baseURL></a>"
    with pytest.raises(FleetRefused, match="document type"):
        read_list(evil)
    with pytest.raises(FleetRefused, match="no element baseURL"):
        read_list(b"<html/>")


CORE = {"id": 3, "oaiPmhUrl": OAI, "metadataFormat": "rioxx", "software": None}


@pytest.mark.parametrize("shape", ["list", "results", "one", "lines"])
def test_core_is_read_in_each_shape(shape):
    none = {"id": 4, "oaiPmhUrl": None, "metadataFormat": None}
    content = {
        "list": json.dumps([CORE, none]),
        "results": json.dumps({"totalHits": 2, "results": [CORE, none]}),
        "one": json.dumps(CORE),
        "lines": f"{json.dumps(CORE)}\n{json.dumps(none)}\n",
    }[shape]
    listed = read_list(content.encode())
    assert urls(listed) == [OAI]
    assert listed.endpoints[0].prefixes == ("rioxx",)
    assert listed.refused == ([] if shape == "one" else [("object 2", "it has no address")])


def test_opendoar_is_read_and_what_has_no_address_is_named():
    items = [{"repository_metadata": {"oai_url": OAI}}, {"repository_metadata": {"oai_url": 7}}]
    listed = read_list(json.dumps({"items": [*items, {}]}).encode())
    assert urls(listed) == [OAI]
    assert [where for where, _ in listed.refused] == ["object 2", "object 3"]


@pytest.mark.parametrize(
    ("content", "form", "said"),
    [
        (b"\xff\xfa", "", "UTF-8"),
        (b"{nonsense", "", "not JSON"),
        (b"[1, 2]", "core", "no objects"),
        (b"<a", "", "not well-formed XML"),
        (b"x", "roar", "no form 'roar'"),
        (b'url\n"' + b"x" * 200_000, "csv", "not a row of a table"),
    ],
)
def test_what_is_no_list_is_refused_in_a_sentence(content, form, said):
    with pytest.raises(FleetRefused, match=said):
        read_list(content, form)


@given(st.binary(max_size=200), st.sampled_from(["", *FORMS]))
def test_any_bytes_are_a_list_or_refused(content, form):
    with contextlib.suppress(FleetRefused):
        read_list(content, form)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (OAI, "eprints.example.org"),
        ("https://www.Journals.example.org/index.php/physics/oai", "journals.example.org-physics"),
        ("http://127.0.0.1:8000/oai?page=letters", "127.0.0.1-8000-letters"),
        ("https://example.org/~tom/Ümlaut/", "example.org-tom-mlaut"),
        ("http://[2001:db8::1]/oai", "2001-db8-1"),
    ],
)
def test_names_come_from_host_and_path(url, name):
    assert name_of(url, ()) == name


def test_a_name_that_differs_in_case_is_taken():
    (one,) = read_list(f"{OAI}\n".encode(), taken=["EPrints.example.org"]).endpoints
    assert one.name.startswith("eprints.example.org-")


def test_a_name_that_is_taken_gets_a_hash_and_then_a_number():
    first = name_of(OAI, {"eprints.example.org"})
    assert re.fullmatch(r"eprints\.example\.org-[0-9a-f]{6}", first)
    assert name_of(OAI, {"eprints.example.org", first}) == f"{first}-2"
    assert name_of("http://fleet/oai", ()).startswith("fleet-")


@given(st.lists(st.text(max_size=90), min_size=1, max_size=9))
def test_names_are_safe_and_differ(paths):
    names: set[str] = set()
    for path in paths:
        name = name_of(f"https://{'x' * 60}.example/{path}", names)
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name)
        assert check_version_name(name) not in names
        names.add(name)


def test_a_line_without_end_is_no_head_of_a_table():
    assert read_list(b"http://a.example/" + b"x" * 200_000).repeated == 0


class _Counting(set[str]):
    """Names; counts how often one is looked up."""

    looked_up = 0

    def __contains__(self, name: object) -> bool:
        self.looked_up += 1
        return super().__contains__(name)


def test_the_next_name_of_many_is_found_in_a_few_steps() -> None:
    names = _Counting({"eprints.example.org"})
    for _ in range(1_000):
        names.add(name_of(OAI, names))
    first = name_of(OAI, {"eprints.example.org"})
    assert names == {"eprints.example.org", first, *(f"{first}-{one}" for one in range(2, 1001))}
    names.looked_up = 0
    assert name_of(OAI, names) == f"{first}-1001"
    assert names.looked_up < 20


def test_a_name_in_a_gap_is_free() -> None:
    first = name_of(OAI, {"eprints.example.org"})
    taken = {"eprints.example.org", first, *(f"{first}-{one}" for one in (2, 4, 5, 6, 7, 8))}
    assert name_of(OAI, taken) not in taken


def test_a_file_that_is_no_list_is_refused_before_its_end() -> None:
    with pytest.raises(
        FleetRefused, match=r"1,000 errors and no endpoint up to line 1001.*line 2:"
    ):
        read_list(b"# x\n" + b"nonsense\n" * 5_000)
    assert len(read_list(b"%s\n" % OAI.encode() + b"nonsense\n" * 5_000).refused) == 5_000


@pytest.mark.parametrize(
    "name", ["curation", "accounts", "fleet", "persisted_state.json", "x.exports", "x.crawls"]
)
def test_no_list_gives_a_silo_a_name_with_another_meaning_in_the_directory(name):
    (found,) = read_list(f"url,name\n{OAI},{name}\n".encode()).endpoints
    assert re.fullmatch(f"{re.escape(name)}-[0-9a-f]{{6}}", found.name)
    assert name_of(f"http://{name}/oai", ()) != name


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_any_form_has_a_limit(form, monkeypatch):
    monkeypatch.setattr("silofleet.lists.MOST_BYTES", 1024 * 1024)
    with pytest.raises(FleetRefused, match="larger than the limit of 1 MiB"):
        read_list(b" " * (1024 * 1024 + 1), form)


def test_what_is_longer_than_any_address_is_refused_with_its_place():
    listed = read_list(f"http://a/{'a' * 2_000}\n{OAI}\n".encode())
    assert urls(listed) == [OAI]
    assert listed.refused == [("line 1", "the address is longer than 2,000 characters")]


@pytest.mark.parametrize(
    ("content", "form"),
    [('url,name\n"' + "a\n" * 1_000_000, "csv"), ("#\n" * 1_000_000, "lines"),
     ("url\n" + ",\n" * 1_000_000, "csv")],
)  # fmt: skip
@pytest.mark.long
def test_the_lines_of_a_list_are_read_one_at_a_time(content, form):
    tracemalloc.start()
    with contextlib.suppress(FleetRefused):
        read_list(content.encode(), form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(content)


@pytest.mark.parametrize(
    ("limit", "content", "said"),
    [
        ("_MOST_ENDPOINTS", "http://a.example/\nhttp://b.example/\nhttp://c.example/\n", "2 endpo"),
        ("_MOST_FAULTS", "http://a.example/\nx y\nx y\nx y\n", "has 2 errors up to line 3"),
        ("_MOST_VALUES", '[{"oaiPmhUrl": "http://a.example/"}]', "more than 2 values"),
    ],
)
def test_a_list_of_very_many_is_refused(limit, content, said, monkeypatch):
    monkeypatch.setattr(f"silofleet.lists.{limit}", 2 if "VAL" not in limit else 1)
    with pytest.raises(FleetRefused, match=said.replace("2 values", "1 values")):
        read_list(content.encode())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(end):
    table = f"# a list{end}url,name{end}{OAI},oxford{end}nonsense{end}"
    listed = read_list(table.encode())
    assert (urls(listed), [one.name for one in listed.endpoints]) == ([OAI], ["oxford"])
    assert [where for where, _ in listed.refused] == ["line 4"]

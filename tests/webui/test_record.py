"""The page of a record, its twin, its files."""

import errno
import os
import re
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from recordsilo import Silo
from recordsilo.disk.identifier import url_segment
from recordsilo.formats import Description, Value
from recordsilo.records import place
from recordsilo.records.manifest import Origin
from webui.record.citation import bibtex, citation_text, csl_item

PLAIN = "oai:example.org:1"
ODD = "http://n2t.info/urn:nbn:se:kb:repos-1 中^*?"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
JSON = "application/json"


def test_the_description_is_shown_in_order_with_links_and_languages(client: Any) -> None:
    text = client.get(URL).text
    assert '<h1 dir="auto" lang="en">On the keeping of records</h1>' in text
    assert text.index("Ortega, Núria") < text.index("Smith, J.")
    assert (
        '<a href="https://example.org/1/?a=1&amp;b=2" rel="noopener noreferrer" dir="auto">' in text
    )
    assert 'href="https://doi.org/10.1234/abc.5"' in text
    assert '<span dir="auto">javascript:alert(1)</span>' in text


def test_scripts_and_directions_are_marked(client: Any) -> None:
    text = client.get("/records/oai+example,org+3").text
    assert '<h1 dir="auto" lang="ar">مقدمة ابن خلدون</h1>' in text
    assert '<html lang="en">' in text


def test_the_page_shows_versions_sets_files_and_raw_xml(
    client: Any, silo: Silo, working_copy: str
) -> None:
    text = client.get(URL).text
    assert working_copy in text
    assert "copied from version 1 by a.curator" in text
    assert "harvested as oai_dc by oaipmhscraper" in text
    made = silo[working_copy].origin("workingcopy").date
    timeline = re.findall(r'<p class="when">(.*?<time datetime="[^"]+)', text)
    assert timeline[0] == f'<time datetime="{made[:19]}Z'
    assert timeline[1] == 'datestamp of the source: <time datetime="2004-06-24T00:00:00Z'
    assert "Harvested 2004-06-24T00:00:00" in text
    assert "Status = Published &amp; &lt;read&gt;" in text
    creator = '<span class="x-tag">&lt;dc:creator&gt;</span>Ortega, Núria<span class="x-tag">'
    assert creator in text
    assert "&#34;firstSeen&#34;: &#34;2004-06-24T00:00:00&#34;" in text


def test_the_twin_tells_of_every_version_and_file(
    client: Any, silo: Silo, working_copy: str
) -> None:
    record = client.json(URL + ".json")
    held = silo[working_copy]
    assert record["identifier"] == working_copy
    assert record["revision"] == held.revision
    assert record["current_version"] == record["version"] == "workingcopy"
    assert record["curated"] is True
    assert record["metadata"] == held.metadata
    assert [v["name"] for v in record["versions"]] == ["1", "workingcopy"]
    assert [v["read_only"] for v in record["versions"]] == [True, False]
    assert record["versions"][1]["origin"]["of"] == "1"
    file = record["versions"][0]["files"][0]
    info = held.file_info("oai_dc", "1")
    assert (file["path"], file["size"], file["sha256"]) == ("oai_dc", info.size, info.sha256)
    assert client.get(file["url"]).status == 200
    assert record["description"]["creators"] == [{"text": "Ortega, Núria"}, {"text": "Smith, J."}]


def test_a_version_has_its_own_page_and_twin(client: Any, working_copy: str) -> None:
    version = client.json(URL + "/versions/1.json")
    assert (version["identifier"], version["name"]) == (working_copy, "1")
    page = client.get(URL + "/versions/1").text
    assert "This is version 1." in page
    missing = client.get(URL + "/versions/9.json")
    assert (missing.status, missing.error["code"]) == (404, "version_not_found")


TAGGED = [URL, URL + ".json", URL + "/versions/1", URL + "/delete", URL + "/differences",
          URL + "/versions/1/files/oai_dc", "/static/page.css", COPY + "/edit",
          COPY + "/edit-xml?path=oai_dc"]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("path", TAGGED)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_a_client_has_is_not_sent_again(
    client: Any, working_copy: str, path: str, method: str
) -> None:
    before = client.ask(method, path)
    tag = before.headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other, tag", {tag}', f'{tag},W/"x"', "*", " * "):
        answer = client.ask(method, path, headers={"If-None-Match": known})
        assert (answer.status, answer.body) == (304, b""), known
        assert answer.headers["ETag"] == tag
        assert answer.headers["Cache-Control"] == before.headers["Cache-Control"]
    for other in ('"other"', tag.strip('"'), tag[:-2] + '"', 'W/"other"', "", f'"{tag}"'):
        answer = client.ask(method, path, headers={"If-None-Match": other})
        assert answer.status == 200, other


@pytest.mark.long
@pytest.mark.parametrize("path", TAGGED)
def test_reading_may_be_bound_to_a_state(client: Any, working_copy: str, path: str) -> None:
    tag = client.get(path).headers["ETag"]
    for expected, status in ((tag, 200), ("*", 200), (f'"x", {tag}', 200), (f"W/{tag}", 412),
                             ('"99"', 412), ("nonsense", 412)):  # fmt: skip
        assert client.get(path, headers={"If-Match": expected}).status == status, expected
    both = client.get(path, headers={"If-Match": '"99"', "If-None-Match": tag}, accept=JSON)
    assert both.error["code"] == "precondition_failed"
    since = {"If-Modified-Since": "Fri, 31 Dec 2100 23:59:59 GMT"}
    assert client.get(path, headers=since).status == 200  # nothing is dated


def test_the_etag_begins_with_the_revision_and_tells_what_is_shown(
    client: Any, silo: Silo, working_copy: str
) -> None:
    revision = silo[PLAIN].revision
    for path in (URL, URL + ".json", URL + "/versions/1", URL + "/delete"):
        assert re.fullmatch(f'"{revision}-[0-9a-f]{{16}}"', client.get(path).headers["ETag"])
    assert client.get(URL, headers={"If-Match": f'"{revision}"'}).status == 200
    tags = {client.get(URL + "/versions/1", accept=kind).headers["ETag"] for kind in (JSON, "")}
    assert len(tags) == 2
    before = client.get(URL)
    with open(silo[PLAIN].to_dirpath("oai_dc", "workingcopy"), "r+b") as file:
        content = file.read().replace(b"keeping", b"tending")
        file.seek(0)
        file.write(content)
    after = client.get(URL, headers={"If-None-Match": before.headers["ETag"]})
    assert (after.status, "tending" in after.text) == (200, True)


def test_a_deleted_record_says_so_and_keeps_its_page(client: Any) -> None:
    text = client.get("/records/oai+example,org+2").text
    assert "The repository deleted this record on" in text
    assert client.json("/records/oai+example,org+2.json")["deleted"] is True


def test_an_identifier_with_every_kind_of_letter_has_a_working_address(client: Any) -> None:
    url = "/records/" + url_segment(ODD)
    assert client.json(url + ".json")["identifier"] == ODD
    assert client.json(url + "/versions/1.json")["identifier"] == ODD
    assert client.get(url + "/versions/1/files/oai_dc").status == 200


def test_other_forms_of_an_identifier_lead_to_the_canonical_address(
    client: Any, silo: Silo
) -> None:
    silo.state["identifier_uri_prefix"] = "oai:example.org:"
    answer = client.get("/records/1")
    assert (answer.status, answer.headers["Location"]) == (303, URL)
    encoded = client.get("/records/" + quote(ODD, safe=""))
    assert encoded.headers["Location"] == "/records/" + url_segment(ODD)


def test_a_record_that_is_not_there_is_a_real_404(client: Any, silo: Silo) -> None:
    page = client.get("/records/nobody")
    assert page.status == 404
    assert "There is no record nobody in this Silo." in page.text
    twin = client.get("/records/nobody.json")
    assert (twin.status, twin.error["code"]) == (404, "record_not_found")
    assert silo.path not in page.text + twin.text


def test_a_damaged_record_is_an_error_that_names_no_path(client: Any, silo: Silo) -> None:
    with open(os.path.join(silo[PLAIN].path_to_item(), "__manifest.json"), "w") as file:
        file.write("{")
    answer = client.get(URL + ".json")
    assert (answer.status, answer.error["code"]) == (503, "manifest_unreadable")
    page = client.get(URL)
    assert page.status == 503
    assert "its manifest is damaged: pairtree_root/" in page.text
    assert "silo repair" in page.text
    assert "Traceback" not in page.text
    assert silo.path not in page.text


def test_of_a_record_deleted_before_it_was_harvested_nothing_is_said_to_be_kept(
    client: Any, silo: Silo
) -> None:
    page = client.get("/records/oai+example,org+2").text
    assert "The repository deleted this record on 24 Jun 2004." in page
    assert "this Silo has no earlier version" in page
    assert "Its earlier versions are kept here" not in page
    with silo.editing(PLAIN) as edit:
        edit.add_version("2", date="2005-01-01T00:00:00", origin=Origin("harvest"))
        edit.set_metadata("deleted_at_version", "2")
    held = client.get(URL).text
    assert "The repository deleted this record." in held
    assert "This Silo keeps its earlier versions." in held
    assert "no earlier version" not in held


def test_a_record_deleted_here_is_gone_and_one_never_held_is_not_found(
    client: Any, silo: Silo
) -> None:
    silo.del_item(PLAIN, remember=True)
    for url in (URL, "/" + quote(PLAIN, safe=""), URL + "/versions/1/files/oai_dc"):
        gone = client.get(url, accept=JSON)
        assert (gone.status, gone.error["code"]) == (410, "record_removed"), url
    assert "was deleted from this Silo" in client.get(URL).text
    never = client.get("/records/oai+example,org+9999", accept=JSON)
    assert (never.status, never.error["code"]) == (404, "record_not_found")
    assert "deleted" not in never.text
    assert client.post("/records", {"id": PLAIN}).status == 201
    assert client.get(URL).status == 200


# -- files -------------------------------------------------------------------------------


def test_a_file_is_sent_byte_for_byte_with_its_length(client: Any, silo: Silo) -> None:
    answer = client.get(URL + "/versions/1/files/oai_dc")
    with silo[PLAIN].get_stream("oai_dc", "1") as file:
        assert answer.body == file.read()
    assert answer.headers["Content-Length"] == str(len(answer.body))
    assert answer.headers["Content-Type"] == "application/xml"


def test_a_large_file_is_streamed_whole(client: Any, silo: Silo, working_copy: str) -> None:
    content = os.urandom(3_000_001)
    silo[working_copy].put_stream("big.bin", content)
    answer = client.get(URL + "/versions/workingcopy/files/big.bin")
    assert answer.body == content
    assert answer.headers["Content-Disposition"].startswith("attachment")


def test_head_answers_like_get_without_a_body(client: Any) -> None:
    for path in (URL, URL + ".json", URL + "/versions/1/files/oai_dc", "/static/page.css"):
        head, get = client.ask("HEAD", path), client.get(path)
        assert head.status == get.status == 200
        assert head.body == b""
        assert head.headers["Content-Length"] == str(len(get.body))


def test_a_file_changed_behind_the_back_is_served_as_it_is(
    client: Any, silo: Silo, working_copy: str
) -> None:
    url = URL + "/versions/workingcopy/files/oai_dc"
    before = client.get(url)
    with open(silo[working_copy].to_dirpath("oai_dc", "workingcopy"), "a") as file:
        file.write("<!-- by hand -->")
    after = client.get(url, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status == 200
    assert after.body.endswith(b"<!-- by hand -->")


def test_a_file_that_is_gone_from_the_disk_is_named_and_the_page_stays(
    client: Any, silo: Silo, working_copy: str
) -> None:
    os.unlink(silo[working_copy].to_dirpath("oai_dc", "workingcopy"))
    page = client.get(URL)
    assert page.status == 200
    assert "Cannot be read: missing on disk." in page.text
    answer = client.get(URL + "/versions/workingcopy/files/oai_dc", accept="application/json")
    assert (answer.status, answer.error["code"]) == (404, "file_not_found")
    assert silo.path not in answer.text


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (b"", "Bytes on the disk: 0; stored: "),
        (None, "Its SHA-256 is not the one of what was stored."),
    ],
)
def test_a_damaged_record_says_so_at_its_top_and_offers_no_editing(
    client: Any, silo: Silo, content: bytes | None, known: str
) -> None:
    path = silo[PLAIN].to_dirpath("oai_dc", "1")
    os.chmod(path, 0o644)
    with open(path, "rb+") as file:
        if content is None:  # as long as it was
            file.write(b"<Metadata")
        else:
            file.truncate()
    text = client.get(URL).text
    assert text.index("1 file of this version is damaged.") < text.index('id="description"')
    assert known in text
    assert "silo harvest --restore-removed" in text
    assert "Correct" not in text
    assert "Edit the description" not in text
    assert 'name="clone_of"' not in text
    assert "curate-form" not in text


def test_a_working_copy_that_others_changed_is_kept_by_accepting_it(
    client: Any, silo: Silo, working_copy: str
) -> None:
    with open(silo[working_copy].to_dirpath("oai_dc", "workingcopy"), "a") as file:
        file.write("<!-- by hand -->")
    text = client.get(URL).text
    assert "1 file of this version is damaged." in text
    assert "<code>silo accept</code>" in text
    assert "/workingcopy/edit?" not in text


@pytest.mark.parametrize(
    "path",
    ["nothing", "oai_dc/x", "..", "%2e%2e/__manifest.json", "..%2f__manifest.json", "%00", "a%0ab",
     "%2fetc%2fpasswd"],
)  # fmt: skip
def test_a_path_that_names_no_file_is_not_found(client: Any, path: str) -> None:
    answer = client.get(f"{URL}/versions/1/files/{path}")
    assert answer.status == 404
    assert b"item_id" not in answer.body
    assert b"root:" not in answer.body


def test_a_file_that_cannot_be_read_is_told_on_its_records_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, *_flags: int) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    monkeypatch.setattr(place, "_without_following", refuse)
    page = client.get(URL)
    assert page.status == 200
    assert "Cannot be read: Input/output error." in page.text
    answer = client.get(URL + "/versions/1/files/oai_dc", accept="application/json")
    assert (answer.status, answer.error["code"]) == (503, "file_unreadable")


def test_values_lead_to_the_records_that_have_them(client: Any, add_record: Any) -> None:
    add_record(
        "oai:example.org:linked", ("title", "Linked"), ("creator", "Smith, J."),
        ("subject", "http://id.example.org/1"), ("date", "2003-05"), ("type", "Article"),
    )  # fmt: skip
    text = client.get("/records/oai+example,org+linked").text
    for field, value in (
        ("creator", "Smith, J."), ("year", "2003"), ("type", "Article"),
        ("subject", "http://id.example.org/1"),
    ):  # fmt: skip
        link = "/search?" + urlencode({field: value})
        assert f'<a href="{link}" dir="auto"' in text
        rows = client.json(link.replace("?", ".json?"))["records"]
        assert "oai:example.org:linked" in [row["identifier"] for row in rows]
    assert 'class="out" href="http://id.example.org/1"' in text


def test_findings_are_shown_at_the_value_they_are_about(client: Any, add_record: Any) -> None:
    add_record(
        "oai:example.org:odd", ("title", "SHOUTED TITLE OF A BOOK"), ("date", "soon"),
        ("date", "2003"),
    )  # fmt: skip
    text = client.get("/records/oai+example,org+odd").text
    described = text.partition("<dl")[2].partition("</dl>")[0]
    assert re.search(r"soon</span>\s*<span class=\"badge finding\">Invalid date<", described)
    assert described.count("badge finding") == 1
    assert re.search(r"</h1>\s*<span class=\"badge finding\">Title in capitals only<", text)
    for missing in ("No creator", "No type"):
        assert f'<span class="badge finding">{missing}</span>' in text
    found = client.json("/records/oai+example,org+odd.json")["findings"]
    assert {"code": "Q202", "field": "dates", "value": "soon"} in found
    deleted = client.json("/records/oai+example,org+2.json")
    assert deleted["findings"] == []


def test_a_record_is_cited_as_text_bibtex_and_csl(client: Any) -> None:
    said = (
        "Ortega, N., & Smith, J. (2003). On the keeping of records. https://doi.org/10.1234/abc.5"
    )
    assert said in client.get(URL).text.replace("&amp;", "&")
    assert client.get(URL + "/citation").text == said + "\n"
    (item,) = client.get(URL + "/citation.json").json
    assert item["author"] == [
        {"family": "Ortega", "given": "Núria"}, {"family": "Smith", "given": "J."},
    ]  # fmt: skip
    assert (item["DOI"], item["issued"]) == ("10.1234/abc.5", {"date-parts": [[2003]]})
    answer = client.get(URL + "/citation.bib")
    assert answer.headers["Content-Type"].startswith("application/x-bibtex")
    assert answer.text == (
        "@misc{oai:example.org:1,\n"
        "  author = {Ortega, Núria and Smith, J.},\n"
        "  title = {{On the keeping of records}},\n"
        "  year = {2003},\n"
        "  doi = {10.1234/abc.5},\n"
        "  url = {https://doi.org/10.1234/abc.5},\n"
        "  language = {eng},\n"
        "}\n"
    )
    assert "citation" not in client.get("/records/oai+example,org+2").text


def test_nothing_in_a_value_ends_a_field_of_bibtex() -> None:
    title = r"50% of {A} & B_c #1 $x^2$ ~ \d"
    description = Description(
        titles=(Value(title),), creators=(Value("Baker and Sons, Ltd"), Value("林 晓明")),
        types=(Value("Doctoral Thesis"),), publishers=(Value("U {X}"),),
        identifiers=(Value("doi:10.5555/a{b}c"),), dates=(Value("1999-02-03"),),
    )  # fmt: skip
    entry = bibtex(csl_item("http://x/y,z}", description))
    assert entry.startswith("@phdthesis{http:-x-y-z-,\n")
    assert (
        r"title = {{50\% of \textbraceleft{}A\textbraceright{} \& B\_c \#1 \$x\textasciicircum{}2\$"
        in entry
    )
    assert r"author = {{Baker and Sons}, Ltd and {林 晓明}}" in entry
    assert r"school = {U \textbraceleft{}X\textbraceright{}}" in entry
    assert "doi = {10.5555/a%7Bb%7Dc}" in entry
    bare = re.sub(r"\\[{}]", "", entry)
    assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize(
    ("creators", "said"),
    [
        (["Sartre, Jean-Paul M."], "Sartre, J.-P. M. (n.d.). T."),
        (["Univ. of X", "Ito, 晓明"], "Univ. of X, & Ito, 晓明. (n.d.). T."),
        ([], "T. (n.d.)."),
        ([f"A{n}, B" for n in range(21)], ", A18, B., … A20, B. (n.d.). T."),
    ],
)
def test_names_are_cited_as_the_apa_does(creators: list[str], said: str) -> None:
    description = Description(titles=(Value("T"),), creators=tuple(map(Value, creators)))
    assert citation_text(csl_item("x", description)).endswith(said)


def test_images_are_shown_and_nothing_else_of_a_record(
    client: Any, silo: Silo, working_copy: str
) -> None:
    for name in ("a.png", "b.svg", "c.html", "d.pdf"):
        silo[working_copy].put_stream(name, b"<svg onload=alert(1)>")
    text = client.get(URL).text
    assert re.findall(r'<(?:img|object|embed|iframe)[^>]* (?:src|data)="([^"]*)"', text) == [
        COPY + "/files/a.png"
    ]
    image = client.get(COPY + "/files/a.png")
    assert image.headers["Content-Type"] == "image/png"
    assert "sandbox" in image.headers["Content-Security-Policy"]
    assert image.headers["X-Content-Type-Options"] == "nosniff"


def test_a_record_that_was_never_held_has_no_earlier_versions(client: Any) -> None:
    text = client.get("/records/oai+example,org+2").text
    assert "no earlier version" in text
    assert "keeps its earlier versions" not in text


@pytest.mark.parametrize("title", ["{ unbalanced", "} unbalanced", "a } b { c", "\\{"])
def test_a_bibtex_entry_has_as_many_closing_as_opening_braces(title: str) -> None:
    item = {"id": "oai:x}", "type": "book", "title": title, "publisher": title}
    entry = bibtex(item | {"author": [{"literal": title}], "URL": f"http://example.org/{title}"})
    depth = 0
    for character in entry.rstrip()[:-1]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 1


@pytest.mark.parametrize(
    ("segment", "said"),
    [
        ("oai+example,org+999", "oai:example.org:999"),
        ("oai%3Aexample.org%3A999", "oai:example.org:999"),
        ("http+==n2t,info=%E4%B8%AD", "http+==n2t,info=中"),
        ("http+==n2t,info=^e4^b8^ad", "http://n2t.info/中"),
        ("999", "999"),
        ("^zz", "^zz"),
    ],
)
def test_the_identifier_of_no_record_is_said_as_it_is_written(
    client: Any, segment: str, said: str
) -> None:
    answer = client.get(f"/records/{segment}", accept="application/json")
    assert answer.error["message"] == f"There is no record {said} in this Silo."

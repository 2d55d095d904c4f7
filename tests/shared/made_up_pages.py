"""Pages of made-up records, with what repositories send that nobody expects."""

from xml.sax.saxutils import escape

from hypothesis import strategies as st

from recordsilo.formats.values import FIELD_OF_ELEMENT

OAI = "http://www.openarchives.org/OAI/2.0/"
DC = f'xmlns:oai_dc="{OAI}oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def page_of(documents, deleted=(), sets=("a",), about="", around=("", "", "", ""), names=None):
    """A page of records with these documents.

    Args:
        documents: The content of each record's ``metadata``.
        deleted: Numbers of records that are deleted.
        sets: The setSpecs of each.
        about: What follows its metadata.
        around: Attributes of the root, the list, each record, and its ``metadata``.
        names: The identifiers; by default made up.
    """
    root, listed, each, within = around
    records = []
    for number, document in enumerate(documents):
        is_deleted = number in deleted
        status = ' status="deleted"' if is_deleted else ""
        body = "" if is_deleted else f"<metadata{within}>{document}</metadata>{about}"
        specs = "".join(f"<setSpec>{escape(one)}</setSpec>" for one in sets)
        name = names[number] if names else f"oai:example.org:{number}"
        records.append(
            f"<record{each}><header{status}>"
            f"<identifier>{escape(name)}</identifier><datestamp>2010-01-01</datestamp>"
            f"{specs}</header>{body}</record>"
        )
    return (
        f'<OAI-PMH xmlns="{OAI}"{root}><responseDate>2010-01-01T00:00:00Z</responseDate>'
        f"<ListRecords{listed}>{''.join(records)}</ListRecords></OAI-PMH>"
    ).encode("utf-8", "xmlcharrefreplace")


WORDS = (
    "Solar cells", "  two   spaces ", "line\nbreak", "tab\there", "no\u00a0break", "\u2028 line",
    "été", "Ã©tÃ©", "â€œquotesâ€", "\ufffd", "太陽電池の効率", "สวัสดี", "العربية", "עברית", "Ω мир",
    "e\u0301", "\U0001f600", "ﬁne", "ALL IN CAPITALS HERE", "123", "—", "&lt;p&gt;", "&amp;eacute;",
    "10.5555/12", "doi:10.5555/ab", "https://doi.org/10.5555/X",
    "https://hdl.handle.net/1721.1/12", "http://localhost/x", "http://10.0.0.1/",
    "http://ex ample/", "doi:10.5555/月", "2004", "2004-13", "1999/2001", "12 May 1999",
    "info:eu-repo/date/embargoEnd/2020-01-01", "19999", "en", "eng", "xx-", "english", "Article",
    "info:eu-repo/semantics/article", "no type", "%s %d %%", "\ue000 \ue001",
    "a" * 600, "b" * 600 + "1", "word " * 21_000, "", " ", "]]&gt;", "'\"\\/", "\x7f", "\u0085",
)  # fmt: skip
LANGUAGES = ("", "", "", ' xml:lang="de"', ' xml:lang=""', ' xml:lang="en"', ' id="1"')
NAMES = (
    *(f"dc:{name}" for name in FIELD_OF_ELEMENT), *(f"dc:{name}" for name in FIELD_OF_ELEMENT),
    "abstract", "x:title", "dc:alternative", "dc:unknown", "metadata", "y:title",
)  # fmt: skip
ODD = ' xmlns:x="urn:x" xmlns:y="metadata"'

texts = st.sampled_from(WORDS) | st.text(
    st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12
).map(escape)
leaves = st.builds(
    lambda name, attribute, text: f"<{name}{attribute}>{text}</{name}>",
    st.sampled_from(NAMES),
    st.sampled_from(LANGUAGES),
    texts,
)
breaks = st.sampled_from(
    ["<!-- c -->", "<?pi x?>", "text between", "<dc:title/>", "\n  ",
     "<dc:title><![CDATA[a < b]]></dc:title>",
     "<dc:title>a<b/>c</dc:title>", "<dc:creator><dc:title>in</dc:title></dc:creator>",
     "<dc:title>a<!-- c -->b</dc:title>", "<dc:title>&#233;&#x202e;</dc:title>"]
)  # fmt: skip
roots = st.sampled_from(
    [("oai_dc:dc", "")] * 24
    + [("oai_dc:dc", ' xml:lang="fr"'), ("dc", ' xmlns=""'), ("dc", ""), ("x:dc", ""),
       ("metadata", ""), ("oai_dc:other", "")]
)  # fmt: skip


AGAIN = f'<metadata xmlns="{OAI}">*</metadata>'


def document_of(root, children, around, declared=f" {DC}{ODD}"):
    name, attributes = root
    made = f"<{name}{declared}{attributes}>{''.join(children)}</{name}>"
    return around.replace("*", made)


def documents(declared=f" {DC}{ODD}"):
    """The content of ``metadata``; most are `oai_dc` and flat."""
    return st.builds(
        document_of,
        roots,
        st.lists(leaves | leaves | leaves | leaves | breaks, max_size=8),
        st.sampled_from(["*"] * 24 + ["*\n", "\n *", "<!-- c -->*", "**", AGAIN]),
        st.just(declared),
    )


setspecs = st.lists(
    st.text(st.characters(blacklist_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
    | st.sampled_from(["a", "a:b", "%s", '"', "\\", "\ue002"]),
    max_size=4,
)
agents = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["%", '"quoted"\\', "\ue001", "x was mended: y"]
)


def _page(place, lists, number, bodies, **given):
    """A page whose namespaces are declared at one of five places."""
    around = [*lists]
    if place < 4:
        around[place] += f" {DC}{ODD}"
    names = [f"oai:example.org:{one}" for one in number]
    return page_of(bodies, around=around, names=names, **given)


attributes = st.sampled_from([*[""] * 12, ' xml:lang="de"', ' xmlns:z="urn:z"', ' id="2"'])
pages = st.integers(0, 4).flatmap(
    lambda place: st.integers(1, 5).flatmap(
        lambda size: st.builds(
            _page,
            st.just(place),
            st.tuples(attributes, attributes, attributes, attributes),
            st.lists(st.integers(0, 12), min_size=size, max_size=size),
            st.lists(documents() if place == 4 else documents(""), min_size=size, max_size=size),
            deleted=st.sets(st.integers(0, 8), max_size=2),
            sets=setspecs,
            about=st.sampled_from([*[""] * 7, "<about><a/></about>"]),
        )
    )
)
"""Pages as a repository may send them one after the other: identifiers occur again, within a page
and in the next."""

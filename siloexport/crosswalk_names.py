"""The crosswalks that come with the package; here, so that their names are known without rdflib."""

BUILT_IN = {
    "default": "texts under Dublin Core 1.1, links under Dublin Core terms",
    "dcterms-1": "everything under Dublin Core terms: the default of earlier releases",
}
"""Name → what it does; each is ``siloexport/crosswalks/NAME.toml``."""

"""Settings of Sphinx. Readers fetch nothing from others: no fonts, scripts or pictures."""

from typing import Any

from website import docstrings

project = "recordsilo"
html_title = "recordsilo"
language = "en"
smartquotes = False  # --option stays as it is
extensions = ["myst_parser", "sphinx.ext.autodoc"]
suppress_warnings = [
    "misc.highlighting_failure",  # sessions with output that looks like no program
    "ref.python",  # RetryLater is a class of several packages: it leads to one of them
]
nitpicky = False  # names of the standard library are code without a link

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

default_role = "py:obj"  # in docstrings: a link where the name is documented, else code
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False  # each has a heading

html_theme = "furo"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["silo.css"]


def setup(app: Any) -> None:
    """Let docstrings, signatures and pages be changed."""
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("autodoc-process-signature", docstrings.signature)
    app.connect("html-page-context", accessible, priority=900)  # after the theme


def accessible(*given: Any) -> None:
    """Give headings of the navigation a level, let keys scroll code, and set dashes."""
    context: dict[str, Any] = given[3]
    for name, before, after in (
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
        ("body", "<pre>", '<pre tabindex="0">'),
        ("body", "</strong> -- ", "</strong> – "),
    ):
        if name in context:
            context[name] = context[name].replace(before, after)

"""Settings of Sphinx. Readers fetch nothing from others: no fonts, scripts or pictures."""

from typing import Any

from website import docstrings

project = "recordsilo"
author = "the authors of recordsilo"
html_title = "recordsilo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
suppress_warnings = ["misc.highlighting_failure"]  # sessions with output that looks like no program
language = "en"
smartquotes = False  # --option stays as it is

myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

default_role = "py:obj"  # in docstrings: a link where the name is documented, else code
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # not "Variables"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = True
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = True
html_static_path = ["static"]
html_css_files = ["silo.css"]
html_theme_options: dict[str, Any] = {"navigation_with_keys": False}


def setup(app: Any) -> None:
    """Let docstrings be changed before napoleon reads them."""
    app.connect("autodoc-process-docstring", docstrings.process, priority=400)

"""A page of values: for packages that bring no template, with a JSON twin of the same values."""

from dataclasses import asdict

from recordsilo.panels import PanelView
from webui.record.panels import ShownPanel
from webui.rendering import View


def page_of_values(title: str, content: PanelView, url: str) -> View:
    """Return a page with a heading, and what a panel may have.

    Args:
        title: The heading, in the language of the page.
        content: Drawn and escaped as a panel is.
        url: The page's own address (`webui.urls.at`).
    """
    shown = ShownPanel.of("page", title, content)
    return View("values.mako", {"shown": shown}, {"title": title, **asdict(content)}, url)

"""The documentation, as `silo help` prints it."""

from recordsilo.documentation import INDEX, pages
from webui import urls
from webui.http.errors import NotFound
from webui.rendering import View
from webui.site import AnyCall
from webui.words.manual import blocks


def show(call: AnyCall) -> View:
    """Show a page of the documentation; without a topic, the list of all.

    Raises:
        NotFound: There is no such page, or the pages are not installed.
    """
    topic = call.params.get("topic", INDEX)
    page = pages().get(topic)
    if page is None:
        raise NotFound("The documentation has no such page. The list of all is at /help.")
    text = page.read_text("utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    data = {"headline": title, "blocks": list(blocks(text)), "is_index": topic == INDEX}
    return View("manual.mako", data, {"topic": topic, "text": text}, urls.manual(topic))

"""What a first visit loads, in bytes as they are sent."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from recordsilo import Silo

pytestmark = pytest.mark.browser
PROMISED = 200_000


@pytest.mark.long
def test_a_first_visit_is_small_and_the_second_has_little_to_load(
    open_page: Callable[..., Page], browser: Any, silo: Silo
) -> None:
    assert silo.count()
    page = open_page("/robots.txt")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sent: list[float] = []
    session.on("Network.loadingFinished", lambda one: sent.append(one["encodedDataLength"]))
    for path, most in (("/search", PROMISED), ("/", 30_000)):
        sent.clear()
        page.goto(path, wait_until="networkidle")
        print(path, sum(sent))
        assert 0 < sum(sent) <= most, path

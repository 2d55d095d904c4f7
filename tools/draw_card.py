"""Draw ``webui/static/card.png``: what other sites show beside a link to the page.

It has the sign and the typeface of the page, and is drawn by Chromium, so run it again when they
change:

    python tools/draw_card.py
"""

import base64
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

STATIC = Path(__file__).parent.parent / "webui" / "static"
WIDTH, HEIGHT, COLOURS = 1200, 630, 64
PAGE = """<!doctype html>
<style>
@font-face { font-family: Face; font-weight: 200 900; src: url(data:font/woff2;base64,FACE); }
body { margin: 0; width: 1200px; height: 630px; background: #12443d; color: #faf8f3;
  font-family: Face; overflow: hidden; position: relative; }
.large { position: absolute; right: -300px; top: -60px; width: 760px; opacity: .1; }
.text { position: absolute; left: 96px; bottom: 92px; }
.sign { width: 104px; display: block; margin-bottom: 36px; }
h1 { margin: 0; font-size: 104px; font-weight: 640; line-height: 1; letter-spacing: -.015em; }
p { margin: 26px 0 0; font-size: 42px; font-weight: 400; color: #abe0d4; }
</style>
<svg class="large" viewBox="6 4 20 24">LINES</svg>
<div class="text">
<svg class="sign" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#1c5b52"/>LINES</svg>
<h1>recordsilo</h1>
<p>Harvested records, searched and curated</p>
</div>
"""


def main() -> None:
    """Draw the picture in few colours."""
    sign = (STATIC / "icon.svg").read_text("utf-8")
    lines = sign[sign.index("<g ") : sign.index("</svg>")]
    (face,) = STATIC.glob("vendor/source-sans-3-*-latin.woff2")
    page = PAGE.replace("LINES", lines)
    page = page.replace("FACE", base64.b64encode(face.read_bytes()).decode())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.set_content(page)
        tab.evaluate("document.fonts.ready")
        drawn = tab.screenshot()
        browser.close()
    picture = Image.open(BytesIO(drawn)).convert("RGB").quantize(COLOURS)
    picture.save(STATIC / "card.png", optimize=True)


if __name__ == "__main__":
    main()

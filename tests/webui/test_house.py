"""Rules for templates and static files: everything is escaped, nothing is loaded from elsewhere."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

from webui.rendering import STATIC, STYLES, _lookup, static_content
from webui.route import Scope
from webui.routes import table

TEMPLATES = sorted(Path(str(files("webui") / "templates")).glob("*.mako"))
STATIC_DIR = Path(str(files("webui") / "static"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_turns_escaping_off(template: Path) -> None:
    source = template.read_text(encoding="utf-8")
    for expression in re.findall(r"\$\{(.*?)\}", source, re.DOTALL):
        assert not re.search(r"\|[^|]*\bn\b[^|]*$", expression), expression
    assert "<%text" not in source
    assert "Markup(" not in source
    assert "disable_unicode" not in source
    assert not re.search(r"expression_filter|default_filters", source)


def test_expressions_are_escaped_by_default() -> None:
    assert _lookup().template_args["default_filters"] == ["h"]
    assert _lookup().template_args["strict_undefined"] is True


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_inline_script_or_style_or_an_unquoted_attribute(template: Path) -> None:
    source = template.read_text(encoding="utf-8")
    assert not re.search(
        r"<script(?! src=\"\${static_url[^>]*></script>)|<style|\sstyle=|\son[a-z]+=", source
    )
    assert not re.search(r"=\$\{", re.sub(r"%.*", "", source))
    assert not re.search(r"(?:src|href)=\"https?:", source)


def test_style_sheets_load_nothing_from_elsewhere() -> None:
    for name, kind in STATIC.items():
        if kind.startswith("font/") or kind == "image/png":
            continue
        text = static_content(name).decode()
        assert "@import" not in text
        for url in re.findall(r"url\(\s*['\"]?([^)'\"]+)", text):
            assert url.startswith("data:") or url in STATIC, (name, url)


def test_vendored_files_are_those_of_their_packages() -> None:
    readme = (STATIC_DIR / "vendor" / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"\| `([^`]+)` \|.*`([0-9a-f]{64})` \|", readme))
    vendored = {path.name: path for path in (STATIC_DIR / "vendor").iterdir()}
    assert set(listed) == set(vendored) - {"README.md"}
    for name, digest in listed.items():
        assert hashlib.sha256(vendored[name].read_bytes()).hexdigest() == digest
    assert "Permission is hereby granted" in vendored["pico-2.1.1.LICENSE.txt"].read_text()
    assert "SIL OPEN FONT LICENSE" in vendored["source-sans-3-5.3.1.LICENSE.txt"].read_text()


def test_every_static_file_that_is_served_exists_and_every_style_is_served() -> None:
    for name in STATIC:
        assert static_content(name)
    styles = {str(path.relative_to(STATIC_DIR)) for path in STATIC_DIR.rglob("*.css")}
    assert styles == set(STYLES)


def addresses() -> str:
    docs = Path(__file__).parents[2] / "docs"
    return "".join(
        (docs / name).read_text(encoding="utf-8")
        for name in ("page-addresses.md", "page-addresses-jobs.md")
    )


def test_the_documentation_names_every_address() -> None:
    page = addresses()
    own = {"/", "/favicon.ico", "/robots.txt", "/static/{path...}"}
    for route in table(*Scope).routes:
        assert route.pattern in own or f"`{route.pattern}`" in page, route.pattern


@pytest.mark.parametrize("part", [0, 1], ids=["silo", "directory"])
def test_the_table_of_addresses_has_each_address_once_with_its_methods(part: int) -> None:
    page = addresses().split("## Addresses of a directory of Silos")[part]
    scopes = ((Scope.SILO,), (Scope.DIRECTORY, Scope.FLEET))[part]
    told = re.findall(r"^\| `(/[^`]*)` \|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    described = {
        (method, address)
        for address, reading, changes in told
        for method in ["GET"] * bool(reading.strip())
        + re.findall(r"\b(?:POST|PUT|DELETE)\b", changes)
    }
    own = {"/favicon.ico", "/robots.txt", "/static/{path...}", "/openapi.json"}
    routed = {
        (route.method, route.pattern)
        for route in table(*scopes).routes
        if (route.pattern not in own and not (part and Scope.SILO in route.scopes))
        and not route.pattern.startswith("/{record}")
    } - {("POST", "/")}
    assert len(told) == len({address for address, *_ in told})
    assert described == routed

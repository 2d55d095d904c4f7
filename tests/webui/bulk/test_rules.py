"""Saved rules on the page: listed, tested, applied and deleted."""

from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from silocuration.editing.rule_files import load_rules

from .conftest import HTML, RULE, finished


def test_broken_rules_are_named_beside_the_sound_ones(client: Any, silo: Silo) -> None:
    directory = Path(silo.path, "curation", "rules")
    directory.mkdir(parents=True)
    broken = {
        "list": "[[change]]\ndo = []", "deep": "title = " + "[" * 3000,
        "language": '[[change]]\ndo = "language"\nfield = "title"\nlang = "\\u0000"',
        "caf\udce9": "title = 1", "-": "",
    }  # fmt: skip
    for name, text in broken.items():
        (directory / f"{name}.toml").write_text(text)
    (directory / "directory.toml").mkdir()
    client.post("/bulk", RULE | {"do": "keep", "name": "items"})
    lines = {line["name"]: line for line in client.json("/rules")["rules"]}
    assert len(lines) == len(broken) + 2
    assert lines.pop("items")["changes"] == 1
    assert all(line["fault"] for line in lines.values())
    page = client.get("/rules")
    assert page.status == 200
    assert 'href="/rules/items"' in page.text
    assert "nested too deeply" in page.text
    assert "directory.toml" in page.text
    assert silo.path not in page.text
    assert client.get("/rules/list", accept="application/json").error["code"] == "bad_rule"


def test_a_rule_is_kept_looked_at_tested_applied_and_deleted(client: Any, silo: Silo) -> None:
    kept = client.post(
        "/bulk", RULE | {"do": "keep", "name": "items", "keep": "yes", "title": "Items"}
    )
    assert kept.status == 201
    rule_set = load_rules(silo.path, "items")
    assert rule_set.keep
    assert rule_set.select.query == "Record"
    assert "items" in client.get("/rules").text
    page = client.get("/rules/items").text
    assert "^Record" in page
    assert 'Changes: <span dir="auto">Title: ' in page
    assert "search Record</span>" in page
    assert 'value="^Record"' in client.get("/bulk?rule=items").text
    assert client.post("/rules/items", {"do": "test"}).json["preview"]["changed"] == 55
    answer = client.post("/rules/items", {"do": "apply"})
    assert finished(silo, answer.json["job"]).about["rule"] == "items"
    assert client.post("/rules/items/delete", {}, accept=HTML).status == 303
    assert client.json("/rules")["rules"] == []


@pytest.mark.parametrize("name", ["../../x", "..%2F..%2Fx", "a.toml", "%2Fetc%2Fpasswd"])
def test_no_name_of_a_rule_leads_out_of_the_silo(client: Any, name: str) -> None:
    assert client.get(f"/bulk?rule={name}", accept="application/json").status == 400
    assert client.get(f"/rules/{name}", accept="application/json").status in {400, 404}
    fields = RULE | {"do": "keep", "name": name.replace("%2F", "/")}
    assert client.post("/bulk", fields).status == 400

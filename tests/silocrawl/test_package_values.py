"""Packages as values: names that nothing can lead out of, JSON back and forth, settings."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from silocrawl.errors import MessageInvalid
from silocrawl.packages.layout import receipt_name, store_file, warc_name
from silocrawl.packages.settings import (
    SettingsRefused,
    StoreSettings,
    load_settings,
    settings_of,
    settings_table,
    store_address,
    store_settings,
)
from silocrawl.packages.values import (
    Package,
    PackageInvalid,
    PackageState,
    VirusCheck,
    WarcOfPackage,
    check_package_id,
    check_warc_name,
    package_id_of,
    package_json,
    package_message,
    package_of,
    stream_of,
)

AT = datetime(2026, 11, 24, 22, tzinfo=UTC)
PACKAGE = Package(
    "own-cp00001-20261124220000", "ark:/99999/s1abc", "own", "cp00001-20261124220000",
    "links/20261124T210000Z", "silo 1", AT, AT,
    store="/srv/store",
    warcs=(WarcOfPackage("a.warc.gz", "/d/a.warc.gz", 3, "0" * 128, "ark:/99999/s1b"),
           WarcOfPackage("b.warc.gz", "/d/b.warc.gz", is_viral=True, signature="Eicar")),
    elsewhere={"c.warc.gz": "own-cp00000"},
    scan=VirusCheck("ClamAV 1.4", AT),
    history=((PackageState.BEGUN, AT), (PackageState.PACKAGED, AT)),
)  # fmt: skip


def test_a_package_is_read_as_it_was_written() -> None:
    assert package_of(package_json(PACKAGE)) == PACKAGE
    odd = replace(PACKAGE, directory="/jobs/\udce4", error="/jobs/\udce4 cannot be read")
    assert package_of(package_json(odd)) == odd


def test_a_package_with_other_values_is_refused() -> None:
    table = json.loads(package_json(PACKAGE))
    for key, value in (("format", 2), ("id", 3), ("started", "2026"),
                       ("started", "0001-01-01T00:00:00+23:59"), ("warcs", [{}]),
                       ("history", [["gone", "2026-11-24T22:00:00Z"]])):  # fmt: skip
        with pytest.raises(PackageInvalid):
            package_of(json.dumps(table | {key: value}).encode())
    with pytest.raises(PackageInvalid):
        package_of(b"[" * 100_000)


def test_states_are_reached_one_after_the_other() -> None:
    later = replace(PACKAGE, error="no room").reached(PackageState.DESCRIBED, AT)
    assert later.state == PackageState.DESCRIBED
    assert later.has(PackageState.PACKAGED)
    assert not later.error
    assert not later.has(PackageState.SUBMITTED)
    assert later.reached(PackageState.PACKAGED, AT).state == PackageState.DESCRIBED


def test_a_message_has_what_shepherds_have() -> None:
    table = json.loads(package_message("package-to-sip", PACKAGE).body)
    assert set(table) == {
        "startDate", "crawlStream", "packageId", "warcs", "viral", "logs", "arks", "hdfs",
    }  # fmt: skip
    assert table["warcs"] == ["a.warc.gz"]
    assert table["viral"] == ["b.warc.gz"]
    assert table["hdfs"]["b.warc.gz"].endswith("/representations/crawl/data/viral/b.warc.gz")
    described = PACKAGE.reached(PackageState.DESCRIBED, AT)
    message = package_message("sips-to-submit", described)
    assert json.loads(message.body)["sip"] == f"packages/{PACKAGE.id}"
    assert package_id_of(message.body) == message.key == PACKAGE.id


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"packageId": "../x"}', b'{"packageId": 1}'])
def test_a_message_without_a_package_is_refused(body: bytes) -> None:
    with pytest.raises(MessageInvalid):
        package_id_of(body)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a..b", "-a", "a\n", "é", "a" * 200])
def test_no_name_of_a_package_leads_elsewhere(name: str) -> None:
    with pytest.raises(PackageInvalid):
        check_package_id(name)


@pytest.mark.parametrize(
    "name", ["x.warc.gz.open", "../x.warc.gz", "a..b.warc", "x", ".warc", "a/b.warc"]
)
def test_no_name_of_a_warc_leads_elsewhere(name: str) -> None:
    with pytest.raises(PackageInvalid):
        check_warc_name(name)


def test_names_of_heritrix_are_names() -> None:
    check_warc_name("WEB-20261124061149123-00000-4711~crawler.example~8443.warc.gz")
    assert stream_of("theses 2026 (élan)") == "theses-2026-lan"


def test_names_in_a_store() -> None:
    assert warc_name("p", "a.warc") == "packages/p/data/p/representations/crawl/data/a.warc"
    assert receipt_name("p") == "receipts/p.json"


def test_settings_are_read_as_they_were_written(tmp_path: Path) -> None:
    settings = StoreSettings(
        "s3://bucket/x", True, "web", "12148", "x5", 7, ("reading-room",), True, True,
        timedelta(hours=12), {"Source-Organization": "A Library"}, {"basis": "statute"},
    )  # fmt: skip
    store_settings(str(tmp_path), settings)
    assert load_settings(str(tmp_path)) == settings
    assert settings_of(settings_table(settings)) == settings
    assert store_address(str(tmp_path), settings) == "s3://bucket/x"


def test_without_a_file_settings_are_the_defaults(tmp_path: Path) -> None:
    settings = load_settings(str(tmp_path))
    assert settings == StoreSettings()
    assert settings.is_for_tests
    with pytest.raises(SettingsRefused, match="--store"):
        store_address(str(tmp_path), settings)
    near = store_address(str(tmp_path), StoreSettings(store="../store"))
    assert near == str(tmp_path.parent / "store")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stores = 'x'", "no setting 'stores'"),
        ("store = 3", "store is a text"),
        ("sips = 'yes'", "sips is true or false"),
        ("embargo-days = -1", "number of days"),
        ("embargo-days = true", "a number"),
        ("naan = '12'", "not a NAAN"),
        ("shoulder = 'aei'", "not a shoulder"),
        ("stream = 'a b'", "stream"),
        ("nodes = 'x'", "list of texts"),
        ("nodes = ['../x']", "cannot name a node"),
        ("checkpoint-every = 3", "checkpoint-every is a text"),
        ("checkpoint-every = '0m'", "duration"),
        ("[bag-info]\nPayload-Oxum = '1'", "itself"),
        ('[bag-info]\nX = "a\\nb"', "not a line of text"),
        ("[rights]\nxyz = 'a'", "no 'xyz'"),
        ("store =", "not valid TOML"),
    ],
)
def test_a_bad_setting_is_a_sentence(line: str, said: str, tmp_path: Path) -> None:
    file = Path(store_file(str(tmp_path)))
    file.parent.mkdir()
    file.write_text(line)
    with pytest.raises(SettingsRefused, match=said) as caught:
        load_settings(str(tmp_path))
    assert str(caught.value).startswith("crawling/store.toml is invalid: ")

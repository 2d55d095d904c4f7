"""Addresses become countries by lists or a database; keys and tokens are what they say."""

import hmac
import ipaddress
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmdb import mmdb

from silosteps.runners import in_order
from usagestats.countries import countries_path, country_lookup
from usagestats.errors import CountriesUnreadable
from usagestats.store.keys import Keys, token, tokens, visitor_text


def test_lists_of_both_versions(tmp_path: Path) -> None:
    (tmp_path / "geoip").write_text("# made up\n16777216,16777471,au\n3221225984,3221226239,de\n")
    (tmp_path / "geoip6").write_text("2001:db8::,2001:db8:ffff::,FR\n")
    for name in ("geoip", "geoip6"):
        look = country_lookup(str(tmp_path / name))
        found = ["1.0.0.1", "1.0.1.0", "192.0.2.255", "::ffff:1.0.0.1", "2001:db8::1%eth0", "a.b"]
        assert [look(one) for one in found] == ["AU", "XX", "DE", "AU", "FR", "XX"]


KNOWN = {
    "192.0.2.0/25": {"country": {"iso_code": "DE"}, "registered_country": {"iso_code": "US"}},
    "192.0.2.128/25": {"registered_country": {"iso_code": "nl"}},
    "198.51.100.0/24": {"country": "FR"},
    "203.0.113.0/24": {"country_code": "gb"},
    "203.0.112.0/24": {"country": {"iso_code": "England"}},
    "198.18.0.0/15": {"continent": {"code": "EU"}},
}


def test_a_database_of_maxmind_s_format(tmp_path: Path) -> None:
    given = ["192.0.2.7", "192.0.2.200", "198.51.100.1", "203.0.113.9", "203.0.112.1", "198.18.0.1",
             "10.0.0.1", "::ffff:192.0.2.7", "2001:db8::1%eth0", "2001:dead::1", "a.b"]  # fmt: skip
    path = tmp_path / "any name"
    for version, countries in ((6, ["IE", "XX"]), (4, ["XX", "XX"])):
        known = KNOWN | ({"2001:db8::/32": {"country": {"iso_code": "IE"}}} if version == 6 else {})
        path.write_bytes(mmdb(known, version))
        look = country_lookup(str(path))
        found = ["DE", "NL", "FR", "GB", "XX", "XX", "XX", "DE", *countries, "XX"]
        assert [look(one) for one in given] == found


@pytest.mark.parametrize("place", [-60, 20])
def test_a_damaged_database_is_named(tmp_path: Path, place: int) -> None:
    """Its description, which is read at once, or what it knows of an address."""
    whole = mmdb({"128.0.0.0/1": {"country": {"iso_code": "DE"}}}, 4)
    assert whole[22:24] == b"\xe1\x47"  # a map of one, whose key has seven letters
    path = tmp_path / "countries.mmdb"
    path.write_bytes(whole[:place] + b"\xff\xff\xff" + whole[place + 3 :])
    with pytest.raises(CountriesUnreadable, match=r"countries\.mmdb: "):
        country_lookup(str(path))("192.0.2.7")


def test_what_is_no_regular_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path)):
        with pytest.raises(CountriesUnreadable, match=r"not a regular file|Is a directory"):
            country_lookup(path)


def test_a_list_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "geoip"
    with open(path, "wb") as file:
        file.truncate((256 << 20) + 1)
    with pytest.raises(CountriesUnreadable, match="more than 256 MiB"):
        country_lookup(str(path))


def test_files_that_are_no_lists_are_named(tmp_path: Path) -> None:
    (tmp_path / "geoip").write_text("nonsense\n")
    with pytest.raises(CountriesUnreadable, match="it has no line such as"):
        country_lookup(str(tmp_path / "geoip"))
    with pytest.raises(CountriesUnreadable, match="No such file"):
        country_lookup(str(tmp_path / "missing"))
    assert country_lookup("")("1.0.0.1") == ""


def test_another_process_names_the_file_that_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(CountriesUnreadable, match="missing: No such file") as told:
        list(in_order(country_lookup, [str(tmp_path / "missing")], processes=2))
    assert told.value.path == str(tmp_path / "missing")


def test_tokens_are_hmacs_under_the_key_of_a_day(tmp_path: Path) -> None:
    keys = Keys(str(tmp_path))
    one, other = keys.key("2026-10-12"), keys.key("2026-10-13")
    assert one != other
    assert Keys(str(tmp_path)).key("2026-10-12") == one
    expected = int.from_bytes(hmac.digest(one, b"x\xc3\xa4", "sha256")[:8], "little", signed=True)
    assert [token(one, "xä")] == list(tokens(one, ["xä"])) == [expected]
    assert (tmp_path / "usage" / "secret").stat().st_mode & 0o777 == 0o600
    keys.shred("2026-10-12")
    assert keys.days() == ["2026-10-13"]
    assert keys.key("2026-10-12") != one
    (tmp_path / "usage" / "secret").unlink()
    with pytest.raises(OSError, match="is missing"):
        Keys(str(tmp_path)).key("2026-10-14")


def test_a_visitor_is_a_user_or_an_address_and_an_agent() -> None:
    given = [(address, "", agent) for address in ("a", "b", "ab") for agent in ("", "b", "c")]
    assert len({visitor_text(*one) for one in [*given, ("a", "b", "c")]}) == len(given) + 1
    assert visitor_text("a", "ann", "c") == visitor_text("b", "ann", "d")


RANGES = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 30), st.sampled_from(["de", "FR", "Nl"])),
    min_size=1,
    max_size=8,
)


@given(RANGES, st.integers(0, 450))
def test_an_address_is_of_the_range_that_holds_it(
    ranges: list[tuple[int, int, str]], number: int
) -> None:
    begin, apart = int(ipaddress.ip_address("198.51.100.0")), list[tuple[int, int, str]]()
    for first, length, code in sorted(ranges):
        if not apart or first > apart[-1][1]:
            apart.append((first, first + length, code))
    lines = [f"{begin + first},{begin + last},{code}\n" for first, last, code in reversed(apart)]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "geoip")
        Path(path).write_text("".join(lines))
        look = country_lookup(path)
    found = [code.upper() for first, last, code in apart if first <= number <= last]
    assert look(str(ipaddress.ip_address(begin + number))) == (found or ["XX"])[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("198.51.100.0,198.51.100.255,de", "DE"),
        ('"198.51.100.0","198.51.100.255","DE","Germany"', "DE"),
        ("3325256704,3325256959,??", "XX"),
        ("3325256704,3325256959,DEU", "XX"),
        ("3325256704,3325256959,D\u00cb", "XX"),
    ],
)
def test_a_code_has_two_letters(tmp_path: Path, line: str, code: str) -> None:
    (tmp_path / "geoip").write_text(f"# a note,with,commas\nnonsense,x,DE\n1,2\n{line}\n")
    assert country_lookup(str(tmp_path / "geoip"))("198.51.100.7") == code


def test_the_file_of_countries_is_that_of_the_settings() -> None:
    assert countries_path("/silo", "") == ""
    assert countries_path("/silo", "debian") == "/usr/share/tor/geoip"
    assert countries_path("/silo", "geo.mmdb") == "/silo/usage/geo.mmdb"
    assert countries_path("/silo", "/srv/geo.mmdb") == "/srv/geo.mmdb"

"""Addresses become countries by the lists of Debian; keys and tokens are what they say."""

import hmac
from pathlib import Path

import pytest

from usagestats.countries.lookup import country_lookup
from usagestats.errors import CountriesUnreadable
from usagestats.store.keys import Keys, token, tokens, visitor_text


def test_lists_of_both_versions(tmp_path: Path) -> None:
    (tmp_path / "geoip").write_text("# made up\n16777216,16777471,au\n3221225984,3221226239,de\n")
    (tmp_path / "geoip6").write_text("2001:db8::,2001:db8:ffff::,FR\n")
    for name in ("geoip", "geoip6"):
        look = country_lookup(str(tmp_path / name))
        found = ["1.0.0.1", "1.0.1.0", "192.0.2.255", "::ffff:1.0.0.1", "2001:db8::1%eth0", "a.b"]
        assert [look(one) for one in found] == ["AU", "XX", "DE", "AU", "FR", "XX"]


def test_files_that_are_no_lists_are_named(tmp_path: Path) -> None:
    (tmp_path / "geoip").write_text("nonsense\n")
    with pytest.raises(CountriesUnreadable, match="it has no line such as"):
        country_lookup(str(tmp_path / "geoip"))
    with pytest.raises(CountriesUnreadable, match="No such file"):
        country_lookup(str(tmp_path / "missing"))
    assert country_lookup("")("1.0.0.1") == ""


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

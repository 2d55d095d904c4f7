"""Three states of a record are merged, or a conflict is reported."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from silocuration.editing.fields import Field, Fields, said
from silocuration.editing.merge import merge


def fields(**values: str) -> Fields:
    """``title="a|b"``: a field with two values."""
    found = [(name, one) for name, all_of in values.items() for one in all_of.split("|") if one]
    return tuple(Field(name, text, "", place) for place, (name, text) in enumerate(found))


def texts(found: Fields, name: str) -> str:
    return "|".join(one.text for one in found if one.name == name)


def test_what_only_we_changed_is_ours() -> None:
    base = fields(title="Tides", type="Article")
    found = merge(base, fields(title="Tides", type="article"), base)
    assert (texts(found.fields, "type"), found.conflicts, found.from_ours) == (
        "article", (), ("type",),
    )  # fmt: skip


def test_what_only_they_changed_is_theirs() -> None:
    base = fields(title="Tides", date="1999")
    found = merge(base, base, fields(title="The tides", date="1999"))
    assert (texts(found.fields, "title"), found.from_ours) == ("The tides", ())


def test_changes_of_different_fields_come_together() -> None:
    base = fields(title="Tides", type="Article", date="1999")
    found = merge(
        base,
        fields(title="Tides", type="article", date="1999"),
        fields(title="The tides", type="Article", date="1999", rights="open"),
    )
    assert [texts(found.fields, n) for n in ("title", "type", "rights")] == [
        "The tides", "article", "open",
    ]  # fmt: skip
    assert not found.conflicts


def test_values_added_and_removed_on_both_sides_come_together() -> None:
    base = fields(subject="a|b|c")
    found = merge(base, fields(subject="a|c|mine"), fields(subject="a|b|theirs"))
    assert texts(found.fields, "subject") == "a|theirs|mine"
    assert not found.conflicts


def test_one_value_changed_both_ways_is_a_conflict() -> None:
    base = fields(title="Tides", type="x")
    found = merge(base, fields(title="The Tides", type="y"), fields(title="Tides!", type="x"))
    (conflict,) = found.conflicts
    assert [texts(side, "title") for side in (conflict.base, conflict.ours, conflict.theirs)] == [
        "Tides", "The Tides", "Tides!",
    ]  # fmt: skip
    assert texts(found.fields, "title") == "Tides!"
    assert texts(found.fields, "type") == "y"


def test_the_same_change_on_both_sides_is_none() -> None:
    base, same = fields(title="Tides"), fields(title="The tides")
    assert not merge(base, same, same).conflicts


def test_one_removed_what_the_other_changed_is_a_conflict() -> None:
    base = fields(creator="Ada|Bob")
    found = merge(base, fields(creator="Ada"), fields(creator="Ada|Robert"))
    assert [one.name for one in found.conflicts] == ["creator"]


def test_white_space_is_no_change() -> None:
    base = (Field("title", "The  tides", "", 0),)
    assert not merge(base, (Field("title", "The tides", "", 0),), fields(title="New")).conflicts


records = st.lists(
    st.tuples(st.sampled_from(["title", "subject"]), st.sampled_from("abcd")), max_size=5
).map(lambda pairs: tuple(Field(n, t, "", p) for p, (n, t) in enumerate(pairs)))


@given(records, records)
def test_a_side_that_changed_nothing_decides_nothing(base: Fields, other: Fields) -> None:
    ours = merge(base, other, base)
    theirs = merge(base, base, other)
    for found in (ours, theirs):
        assert not found.conflicts
        for name in ("title", "subject"):
            assert texts(found.fields, name) == texts(other, name)


@given(records, records, records)
def test_what_either_side_added_comes_and_what_we_removed_stays_away(
    base: Fields, ours: Fields, theirs: Fields
) -> None:
    found = merge(base, ours, theirs)
    in_conflict = {one.name for one in found.conflicts}
    was, mine, their, merged = (Counter(said(side)) for side in (base, ours, theirs, found.fields))
    for value in was | mine | their:
        if value[0] in in_conflict:
            continue
        if mine[value] > was[value] or their[value] > was[value]:
            assert merged[value] >= 1, value
        if mine[value] == 0 and was[value] >= their[value]:
            assert merged[value] == 0, value


@given(records, records, records)
def test_no_value_both_sides_kept_is_lost_and_none_is_invented(
    base: Fields, ours: Fields, theirs: Fields
) -> None:
    found = merge(base, ours, theirs)
    merged = set(said(found.fields))
    assert merged <= set(said(ours)) | set(said(theirs))
    in_conflict = {one.name for one in found.conflicts}
    kept = set(said(base)) & set(said(ours)) & set(said(theirs))
    assert {one for one in kept if one[0] not in in_conflict} <= merged

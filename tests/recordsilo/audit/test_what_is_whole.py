"""Records that the store wrote, in any order of operations, give no finding."""

import pytest

from recordsilo import Silo
from recordsilo.audit import Audit


def test_clone_that_takes_the_name_of_its_deleted_original_is_whole(silo: Silo) -> None:
    record = silo.get_item("a")
    record.put_stream("f", "x")
    record.clone_version("1", "v0")
    record.clone_version("v0", "v1")
    record.del_version("v0")
    record.rename_version("v1", "v0")
    assert record.origin("v0").of == "v0"
    assert list(Audit(silo.path).findings()) == []


@pytest.mark.long
def test_words_of_deleted_records_among_the_recent_ones_are_whole(silo: Silo) -> None:
    for name, title in (("a", "auks and gulls"), ("b", "gulls"), ("c", "terns")):
        silo.get_item(name).put_stream("oai_dc", f"<dc><title>{title}</title></dc>", None, True)
    assert silo.search("gulls").total == 2
    silo.del_item("a")
    silo.get_item("c").put_stream("oai_dc", "<dc><title>terns, skuas</title></dc>", None, True)
    assert silo.search("gulls").total == 1
    assert list(Audit(silo.path).findings()) == []

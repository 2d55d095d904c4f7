"""Records that the store wrote, in any order of operations, give no finding."""

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

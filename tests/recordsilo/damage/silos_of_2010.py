"""Damage to a Silo that 2010 wrote."""

import json

from damage.cases import Box, breaks_2010


@breaks_2010("S094")
def delta_clone_of_a_silo_that_was_moved(box: Box) -> None:
    (box.record / "__delta/oai_dc").unlink()
    (box.record / "__delta/oai_dc").symlink_to("/srv/old-silo/pairtree_root/oai_dc")


@breaks_2010("S095")
def delta_clone_of_a_silo_that_was_copied(box: Box) -> None:
    (box.silo.parent / "oai_dc").write_text("the original's")
    (box.record / "__delta/oai_dc").unlink()
    (box.record / "__delta/oai_dc").symlink_to(box.silo.parent / "oai_dc")


@breaks_2010("S085")
def file_missing_in_2010(box: Box) -> None:
    (box.record.parent / "61/__2/oai_dc").unlink()


@breaks_2010("S034")
def manifest_torn_in_2010(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes()[:300])


@breaks_2010("S064")
def files_of_a_version_missing_in_2010(box: Box) -> None:
    manifest = box.record.parent / "go/ne/__manifest.json"
    members = json.loads(manifest.read_text())
    del members["files"]["1"]
    manifest.write_text(json.dumps(members))

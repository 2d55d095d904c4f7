"""ocfl-py, for `storage_roots.py`: ``storage_roots_peer.py CONTENTS ROOT``; loads nothing of ours.

Writes the objects of ``CONTENTS/<n>/``, or adds their next version.
"""

import json
import logging
import os
import sys

from ocfl import Object, StorageRoot, VersionMetadata

CONTENTS, ROOT = sys.argv[1:]
logging.disable(logging.INFO)  # a line for each object

if not os.path.exists(ROOT):
    StorageRoot(ROOT, layout_name="0003-hash-and-id-n-tuple-storage-layout").initialize()
for name in sorted(os.listdir(CONTENTS)):
    with open(f"{CONTENTS}/{name}/version.json", encoding="utf-8") as file:
        told = json.load(file)
    about = VersionMetadata(
        created=told["created"], message=told["message"], name=told["user"]["name"],
        address=told["user"]["address"],
    )  # fmt: skip
    source, place = f"{CONTENTS}/{name}/state", f"{ROOT}/{told['path']}"
    if os.path.exists(place):
        Object().add_version_with_content(place, source, about)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        Object(identifier=told["id"]).create(srcdir=source, metadata=about, objdir=place)

"""An import that kills itself with SIGKILL at its n-th rename.

python killed_import.py ROOT DIR N
"""

import os
import sys

from killing import kill_at

from siloimport.commands import import_group

if __name__ == "__main__":
    kill_at([(os, "rename"), (os, "mkdir")], int(sys.argv[3]), early=True)
    import_group.main(["ocfl", sys.argv[1], sys.argv[2], "--quiet"])

"""An import that kills itself with SIGKILL at its n-th rename.

python killed_import.py FORM FROM DIR N
"""

import os
import sys

from killing import kill_at

from siloimport.commands import import_group

if __name__ == "__main__":
    kill_at([(os, "rename"), (os, "mkdir")], int(sys.argv[4]), early=True)
    import_group.main([*sys.argv[1:4], "--quiet"])

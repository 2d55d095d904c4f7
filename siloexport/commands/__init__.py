"""The commands `silo export …`.

`export` has the group and the commands on an export, `kinds` makes the command of each kind of
target. They share `options`, `runs` (options → a run), `output` and `exit_codes`.
"""

"""The same change to many records: a job with a preview, a journal and an undo.

`specs` says which records a job concerns and what it does to one; `spreadsheet` and `attach`
(with `premis`) are two such kinds, rules the third. `job` previews, applies, resumes and undoes
it, `journal` keeps its state on the disk, `planned` keeps a preview of any size.

Read `specs` first, then `job`.
"""

"""A harvest: a job, which has lists, and an end that says what was promised and got.

`job` harvests lists one after the other and writes the receipt, `access` is its way to the
repository. `progress_marks` say where the next update starts, `past_harvests` lists the
harvests of a Silo.

Read `job` first.
"""

"""A harvest: a job with lists, which ends with a receipt.

`job` harvests lists one after the other and writes the receipt, `access` connects to the
repository. `progress_marks` stores where the next update starts, `past_harvests` lists the
harvests of a Silo.

Read `job` first.
"""

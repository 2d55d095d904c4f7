"""A harvest: a job with lists, which ends with a receipt.

`job` opens a job, harvests its lists one after the other and writes the receipt; `access` connects
to the repository. `past_harvests` lists the harvests of a Silo.

Read `job` first.
"""

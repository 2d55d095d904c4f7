"""Reports by the COUNTER Code of Practice, Release 5.1.

Read `definitions` first: which reports there are. `asking` reads what is asked for, `items` and
`parents` turn a record's metadata into what a report says of it, `making` figures into a `Report`,
`as_json` and `as_table` write one. All of them are pure; `of_silo` reads a Silo.

Source: COUNTER Code of Practice, Release 5.1 (https://cop5.countermetrics.org/), sections 3 to 5.
"""

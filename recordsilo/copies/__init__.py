"""Silos out of Silos: copied, merged, divided, and with another prefix of identifiers.

`new_silo` makes a Silo of whole records, and continues after a kill. `record_copy` reads a record
while others may change it. `beside` knows what is carried besides the records, `agreement` which of
two records contains the other. Used by the commands; read `copying` first.
"""

"""Changing many records: the form of a rule, uploads to be looked at, and their jobs."""

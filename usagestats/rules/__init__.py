"""Decide what a log line is: which record was used, how, and by whom (pure, but for the files).

Read `classify` first; `settings` has what a Silo's ``usage.toml`` says.
"""

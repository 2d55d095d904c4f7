"""Batch edits: the form of a rule, uploads to be previewed, and their jobs."""

"""Selecting records: searches and their addresses, facets, and selections for batch edits."""

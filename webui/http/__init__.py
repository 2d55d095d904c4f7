"""Receiving, limiting and reading requests; answers, refusals and their statuses."""

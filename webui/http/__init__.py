"""Requests received, bounded and read; answers, refusals and their statuses."""

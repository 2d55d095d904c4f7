"""Views of records: their pages, rows, compared versions, and origins."""

"""What is shown of records: their pages, rows, versions side by side, and origins."""

"""Changing one record: its form, its XML, and what a curator may do."""

"""Changing one record: its form, its XML, and the changes that a curator may make."""

"""Texts of the page for translation, languages and dates."""

"""The words of the page: texts to be translated, languages and dates."""

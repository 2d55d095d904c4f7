"""The website of docs/: pages, the commands' own help and the docstrings of the interface.

    PYTHONPATH=tools python -m website      (make site)

`pages.py` copies docs/ and makes its links fit, `commands.py` and `interface.py` write the
reference, `conf.py` has the settings of Sphinx. docs/index.md is the home page, and its lists are
the navigation.
"""

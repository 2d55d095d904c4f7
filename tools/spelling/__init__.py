"""The spelling of the pages, of the commands' help and of messages.

    PYTHONPATH=tools python -m spelling      (part of make check)

`__main__.py` names each unknown word with its place. Words of this project and its field are in
`words.txt`, one a line, sorted.
"""

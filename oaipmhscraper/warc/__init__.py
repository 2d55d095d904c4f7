"""Responses as received, in WARC files.

`responses` writes every exchange before its page is stored; `reading` takes the exchanges
out again, for `oaipmhscraper.replay` and for people who ask what a record was made of.
"""

"""Store and read responses as received, in WARC files.

`responses` writes every exchange before its page is stored; `reading` reads the exchanges, for
`oaipmhscraper.replay` and to show the response of a record.
"""

"""One request of OAI-PMH over HTTP, and one whole answer back.

`http_rules` decides what an answer means (pure), `http_transport` sends and waits. What any
request over HTTP needs is in `politeweb`.
"""

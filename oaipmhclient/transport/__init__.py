"""Send an OAI-PMH request over HTTP and receive the complete response.

`http_rules` interprets a response (pure), `http_transport` sends and waits. `politeweb` has the
parts that do not depend on OAI-PMH.
"""

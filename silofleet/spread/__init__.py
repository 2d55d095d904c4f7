"""Requests of a very large repository, sent by the workers of any node.

A *unit* is one request of a list: the first of a window, or the continuation of its token. The
run of the endpoint keeps the walk, the journal and the Silo; it offers its units in the Redis of
the fleet, and judges what is brought as if it had asked itself. Begin with `values`.
"""

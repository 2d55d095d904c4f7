"""Jobs: long work that a worker process does, followed and steered while it runs.

``ledger`` stores every job of a Silo and is authoritative. ``worker`` starts a process for
each job (``running``), which calls the function of its kind. Packages contribute kinds by
entry points (``kinds``). A process may be killed at any time: the next worker continues. With
a broker, workers are notified of new jobs by Celery (``broker``; the extra ``fleet``); without
one they poll the ledger. Small steps of work are not jobs, but messages (``queues``).
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

"""Jobs: long work that a worker process does, followed and steered while it runs.

``ledger`` holds the truth about every job of a Silo. ``worker`` starts a process for each
job (``running``), which does what its kind says. Packages contribute kinds by entry points
(``kinds``). A process may be killed anywhere: the next worker goes on. With a broker,
``queue`` tells workers of new jobs by Celery (the extra ``fleet``); without one they look
at the ledger.
"""

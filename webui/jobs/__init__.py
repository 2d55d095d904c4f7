"""Jobs: long work started from the page, done by a worker process, followed while it runs.

``ledger`` is the truth about every job; ``queue`` only says that there is something to do
(Celery); ``worker`` starts a process for each job (``running``), which does what its kind
says (``kinds``). A process may be killed anywhere: the next worker goes on.
"""

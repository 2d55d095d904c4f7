"""Queues of messages that are acknowledged: small steps of work, told again until they are done.

`values` has the interface. `sqlite` keeps queues in a file, for the processes of one machine;
`redis_streams` keeps them in a Redis, for many. `steps` works on them in warm children. A message
may be told twice, because a taker died or was slow, so what is done with it must bear that.
"""

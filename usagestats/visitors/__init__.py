"""Profiles of visitors, from page events in Kafka: see docs/usage-push.md, "Visitor profiles".

Two steps, each with its own consumer group. `flatten` turns the name and value pairs of an
event into fields. `profile` updates the visitor's profile in Redis and adds it to the event.
Read `settings` first; `events` is pure, `profiles` speaks to Redis, `relay` to Kafka.
"""

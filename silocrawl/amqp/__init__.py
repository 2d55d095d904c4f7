"""A bridge to a RabbitMQ: addresses for other crawlers out, what they and others say in.

The truth is in the Silo's own queues; a broker is a way to and from them. `settings` says which,
`declaring` checks and declares what is there, `incoming` judges what comes, `link` holds a
connection, and `bridge` passes messages in both directions.
"""

"""Match crawl logs with the links in records, and give each link an outcome.

* `uris`, `rules`, `outcomes`: normal forms of an address, what counts as a full text, the outcomes
  of a link. Pure.
* `steps.sql`, `plan`: the steps from log lines to outcomes, and their order.
* `inputs`, `warcs`, `seeds`: the inputs: logs, indexes, WARCs, lists of seeds.
* `shards`, `matching`, `results`: parts that can be merged; the match; the tables it writes.
* `crawls`, `kept`, `explain`, `report`, `attach`: the results stored in a Silo, and their uses.

Read `steps.sql` first. The package needs the extra ``crawl``.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""

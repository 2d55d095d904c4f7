"""What became of the records' links: crawl logs joined to the addresses that were asked for.

* `uris`, `rules`, `outcomes`: the forms of an address, what counts as a full text, what may
  come of a link. Pure.
* `steps.sql`, `plan`: the steps from lines to outcomes, and their order.
* `inputs`, `warcs`, `seeds`: what is read: logs, indexes, WARCs, lists of seeds.
* `shards`, `matching`, `results`: parts that merge; the match itself; the tables it writes.
* `crawls`, `explain`, `report`, `attach`: what a Silo keeps of it, and what is made of that.

Read `steps.sql` first. The package needs the extra ``crawl``.
"""

"""The commands of the store; `recordsilo.cli` is the group `silo` that loads them."""

"""One module for each kind of page; a handler takes a `Call` and gives a view or an answer."""

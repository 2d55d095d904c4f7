"""One module for each kind of page; a handler takes a `Call` and returns a view or an answer."""

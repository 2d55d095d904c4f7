"""One search over all Silos of a directory, and over those of other nodes.

values       a search, its hits and its answer                                    (pure)
folding      which hits are the same work: by DOI, or title, year and creator     (pure)
silos        asks each Silo, in threads
everywhere   the search that commands and the page call: begin reading here
"""

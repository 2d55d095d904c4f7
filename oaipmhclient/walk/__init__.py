"""What the walk through one window is made of; the walk is `oaipmhclient.walk.list_walk`.

`values` passes between the walk and the engine that stores its pages, `listed_pages` makes
lists of records and of headers alike, `page_facts` and `page_judgement` say what a page tells
of its list and whether it is what was asked for, `wire_windows` and `narrowing` turn windows
into what an endpoint can answer, `endpoint_checks` asks beside the list.

Read `oaipmhclient.walk.list_walk` and `oaipmhclient.walk.recovery` first, then `values`.
"""

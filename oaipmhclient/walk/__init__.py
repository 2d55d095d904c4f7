"""The walk through the pages of one window (`oaipmhclient.walk.list_walk`), and its parts.

`values` are exchanged between the walk and the engine that stores its pages. `listed_pages` treats
lists of records and of headers alike. `page_facts` reads what a page shows about its list,
`page_judgement` whether it is the page requested. `wire_windows` and `narrowing` turn windows into
requests that an endpoint can answer. `endpoint_checks` sends other requests.

Read `oaipmhclient.walk.list_walk` and `oaipmhclient.walk.recovery` first, then `values`.
"""

"""ResourceSync beside OAI-PMH (ANSI/NISO Z39.99-2017): each record in a format is a resource.

Each format is a set of resources with a capability list of its own. All of it is answered from the
same record source; see `app.ResourceSyncApp`.

* `addresses`: where each document is, below the base URL (pure).
* `documents`: the XML of the lists (pure).
* `parts`: where long lists are divided.
* `dumps`: packages of documents.
* `app`: the WSGI application.
"""

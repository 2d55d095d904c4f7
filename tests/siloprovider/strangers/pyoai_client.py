"""Harvest a list with the client of pyoai 2.5.0: python pyoai_client.py BASE_URL PREFIX.

Prints a JSON object for each record; runs in pyoai's environment, without our packages.
"""

import json
import sys

from lxml import etree
from oaipmh.client import Client
from oaipmh.metadata import MetadataRegistry

base_url, prefix = sys.argv[1:]
registry = MetadataRegistry()
registry.registerReader(prefix, lambda element: element)
client = Client(base_url, registry)
client.updateGranularity()
for header, metadata, _ in client.listRecords(metadataPrefix=prefix):
    document = None if metadata is None else next(metadata.iterchildren(etree.Element))
    print(
        json.dumps(
            {
                "identifier": header.identifier(),
                "datestamp": f"{header.datestamp().isoformat()}Z",
                "deleted": header.isDeleted(),
                "document": None
                if document is None
                else etree.tostring(
                    document, method="c14n", exclusive=True, with_tail=False
                ).decode(),
            }
        )
    )

"""The records for harvesters: OAI-PMH at ``/oai``, and the page that switches it on."""

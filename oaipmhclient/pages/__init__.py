"""Six verbs → requests, bytes → values (all pure).

`xml_pages` parses strictly and safely, `page_elements` reads single elements, and
`requests_and_pages` is what the others call. Read it first.
"""

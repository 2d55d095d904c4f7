"""The page of a fleet: which endpoints are well, and which are not.

`lines.py` reads the fleet for it, `page.py` answers the requests below ``/fleet``; the Shelf
(`webui.multi_silo`) passes them on.
"""

"""OCFL 1.1: where objects are in a storage root, their inventories, and reading them.

An object is a directory with versions (``v1``, ``v2`` …). Its inventory says which content each
version has, by digest; content of several versions is stored once.

Source: Oxford Common File Layout 1.1 (https://ocfl.io/1.1/spec/).
"""

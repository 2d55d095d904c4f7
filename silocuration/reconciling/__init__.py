"""Names of the records and those of authorities: candidates, decisions, identifiers.

Source: Reconciliation Service API 0.2, W3C Entity Reconciliation Community Group, 2023.
"""

"""Reconciliation: the Silo as a service at ``/reconcile``, and its values against others."""

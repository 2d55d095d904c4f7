"""Every check of a probe, in the order of its report (pure). Documented in docs/probe.md."""

from oaipmhscraper import (
    probe_answer_checks,
    probe_date_checks,
    probe_identity_checks,
    probe_list_checks,
)
from oaipmhscraper.probe_values import Check

CHECKS: tuple[Check, ...] = (
    *probe_identity_checks.CHECKS,
    *probe_list_checks.CHECKS,
    *probe_date_checks.CHECKS,
    *probe_answer_checks.CHECKS,
)

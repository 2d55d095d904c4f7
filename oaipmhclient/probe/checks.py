"""All checks of a probe, in the order of the report (pure). See docs/probe.md."""

from oaipmhclient.probe import answer_checks, date_checks, identity_checks, list_checks
from oaipmhclient.probe.values import Check

CHECKS: tuple[Check, ...] = (
    *identity_checks.CHECKS,
    *list_checks.CHECKS,
    *date_checks.CHECKS,
    *answer_checks.CHECKS,
)

"""Events → counts, for the days that have changed.

Read ``usagestats/steps.sql`` first, then `counting`.
"""

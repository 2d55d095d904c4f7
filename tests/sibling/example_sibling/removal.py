"""What happens to the stars of records that are removed for good."""

from example_sibling.stars import take_stars
from recordsilo.removals import OnRemoval

STARS = OnRemoval("stars", take_stars)

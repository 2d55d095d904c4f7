"""Stars for records: an example of a package that extends silo (docs/extending.md)."""

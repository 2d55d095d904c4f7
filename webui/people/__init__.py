"""Users: accounts, sign-in, sessions and roles."""

"""Who asks: accounts, signing in, sessions and roles."""

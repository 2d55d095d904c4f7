"""What the targets on other servers share: requests, credentials, errors, uploads."""

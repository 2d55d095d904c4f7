"""The OpenAPI description of the page, generated from the route table."""

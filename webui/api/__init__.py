"""What programs are told of the page: OpenAPI, generated from the route table."""

"""A separate Silo for each test, and a worker that ends with the test."""

from jobs_of_a_silo import jobs, silo_path, until, worker

__all__ = ["jobs", "silo_path", "until", "worker"]

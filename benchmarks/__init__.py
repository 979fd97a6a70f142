"""What `make bench` measures: ratios taken in one run on loopback, never timed tests."""

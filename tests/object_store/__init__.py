"""A bucket on this machine: moto's S3, one request at a time, with faults, counts and a clock."""

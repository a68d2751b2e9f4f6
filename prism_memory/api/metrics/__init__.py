"""How it runs, for Prometheus: ``/metrics``."""

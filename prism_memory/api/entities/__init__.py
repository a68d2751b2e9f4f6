"""Who and what facts speak of: ``/entities``."""

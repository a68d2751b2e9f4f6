"""Documents and streams: ``/sources``, and one of them by its key: ``/source``."""

"""The limits in force: ``/limits``."""

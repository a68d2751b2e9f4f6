"""The example's settings, made quick and repeatable for tests."""

from __future__ import annotations

import os

# A server of its own: a test run never touches the demo's data. Set in the
# environment, so that the workers a test starts find the same one.
os.environ["PRISM_SERVICES"] = "test"

from example_project.settings import *

# Two runs on one server, say of two Python versions, must not drop each other's.
DATABASES["default"]["TEST"] = {"NAME": f"test_prism_memory_{os.getpid()}"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# No test leaves a file behind that it did not ask for.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}
CELERY_TASK_ALWAYS_EAGER = False
DEBUG = False

PRISM_MEMORY = {
    "EMBEDDERS": {
        "default": {
            "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
            "OPTIONS": {"dimensions": 64, "for_tests": True},
        },
    },
}

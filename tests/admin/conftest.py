from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client


@pytest.fixture
def root(client: Client) -> Client:
    """A browser of somebody who may do everything."""
    user = get_user_model().objects.create_superuser("root")
    client.force_login(user)
    return client

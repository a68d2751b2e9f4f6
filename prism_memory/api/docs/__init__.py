"""The OpenAPI document, and its pages, open to all."""

-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: vector_extension
SELECT extversion FROM pg_extension WHERE extname = 'vector';

-- name: applied_migrations
SELECT name FROM django_migrations WHERE app = %(app)s::text;

-- name: alive
SELECT 1 AS alive;

"""PostgreSQL's words for Django: fields, constraints, expressions, named SQL."""

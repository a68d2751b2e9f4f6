"""How long what is kept: ``/retention``, for keys of a whole tenant."""

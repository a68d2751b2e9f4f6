"""HTTP: parse, make one call, answer. A folder per resource."""

"""Rules over many rows: retention, erasure, export, seals, row-level security."""

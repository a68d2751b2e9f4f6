"""Rules over many rows: retention, erasure, export, holds, seals."""

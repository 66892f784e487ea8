"""Reference pipeline: user sequences and semantic IDs in, a served model folder out."""

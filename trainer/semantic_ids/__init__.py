"""Semantic IDs of items: texts to vectors, vectors to codebooks and codes."""

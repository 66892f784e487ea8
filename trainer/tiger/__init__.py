"""Trained encoder-decoders of other libraries -> a folder that is served."""

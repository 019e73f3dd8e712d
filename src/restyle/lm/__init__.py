"""A causal language model as a sequence-to-sequence model: bases, adapters, tuning, decoding."""

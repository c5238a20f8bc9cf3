"""Two states, or a state and assertions → what is proven about them for every name there can be."""

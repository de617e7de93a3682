"""Programs that learn what the SDK knows of paths: the weights of signs, and words of APIs."""

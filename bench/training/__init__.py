"""Programs that train the SDK and measure nothing: they write its weights of signs, and its words of APIs."""

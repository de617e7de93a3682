"""One property of a shape over time: its page, its days, its history."""

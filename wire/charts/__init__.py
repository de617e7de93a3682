"""What all charts share: the time axis, with the word on a bucket that is not whole, and the colours of series."""

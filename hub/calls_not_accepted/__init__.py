"""What pages say if calls are not accepted any more."""

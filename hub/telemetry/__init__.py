"""What every process says of itself: lines of logs without secrets, traces."""

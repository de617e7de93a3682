"""What several tests share: calls, servers to talk to, recorded traffic."""

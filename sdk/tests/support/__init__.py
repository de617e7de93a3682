"""Code that several tests share: calls, servers to talk to, recorded traffic."""

"""Tool calls: their list, and everything that is stored of one."""

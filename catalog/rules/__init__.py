"""What is decided by hand, holds for what comes, and can be taken back as if it never was."""

"""What makes a repeated request harmless, and how kept answers are encrypted."""

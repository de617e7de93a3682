"""`manage.py doctor`: check what a puzzled operator would check, and say the cure."""

"""`manage.py doctor`: check everything that a puzzled operator would check, and name the cure."""

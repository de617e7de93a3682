"""The cases of the committed vectors, one module for each part. They use none of the code under test."""

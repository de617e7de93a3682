"""How every page of a workspace is made, how its forms are answered, and what is shown only once."""

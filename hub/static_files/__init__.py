"""Where static files come from besides `static/`: bundles that are joined of it, and files of other packages."""

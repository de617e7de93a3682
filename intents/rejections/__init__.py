"""The page of rejections."""

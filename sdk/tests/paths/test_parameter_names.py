"""The names that parameters get in path templates."""

import pytest

from affidavit._paths.templates import template


@pytest.mark.parametrize(
    ("collection", "name"),
    [("news", "newsId"), ("series", "seriesId"), ("movies", "movieId"), ("people", "personId")],
)
def test_a_parameter_is_named_by_the_singular_of_the_segment_before_it(collection, name):
    assert template(f"/{collection}/17").path == f"/{collection}/{{{name}}}"

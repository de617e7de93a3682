"""A word that any API knows is not withheld, and a code that nobody can read is data."""

from support.lessons import learn


def test_an_api_that_describes_itself_under_options_names_no_values():
    areas = ("build", "core", "git", "wit")
    described = [{"name": area, "path": f"_apis/{area}"} for area in areas]
    learner = learn(
        *((f"OPTIONS /_apis/{area}", described) for area in areas),
        *((f"GET /_apis/{area}/{number}", {"id": number}) for area in areas for number in (17, 18)),
    )
    for area in areas:
        assert "{" not in learner.template(f"/_apis/{area}").path

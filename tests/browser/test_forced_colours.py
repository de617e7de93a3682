"""Pages in the few colours that the system allows: lines of a chart can still be told apart."""

from playwright.sync_api import expect


def test_the_lines_of_a_chart_and_of_its_legend_keep_their_colours(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/outcomes")
    page.emulate_media(forced_colors="active")
    page.reload()
    lines = page.locator(".plot .scatterlayer .trace .js-line")
    expect(lines.nth(3)).to_be_visible(timeout=10_000)
    strokes = lines.evaluate_all("all => all.slice(0, 4).map((one) => getComputedStyle(one).stroke)")
    assert len(set(strokes)) == 4
    signs = page.locator(".legend i").evaluate_all(
        "all => all.slice(0, 4).map((one) => getComputedStyle(one).borderTopColor)"
    )
    assert signs == strokes

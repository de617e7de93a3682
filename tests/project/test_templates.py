"""Templates can be read and compared line by line."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LINE = 160


def test_no_line_of_a_template_is_too_long():
    long_lines = [
        f"{template.relative_to(ROOT)}:{number}"
        for template in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(template.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert long_lines == []

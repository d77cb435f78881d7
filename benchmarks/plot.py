"""The variants of each set side by side, drawn as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

BAR, GAP, GROUP_GAP = 34, 4, 34
HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 260, 56, 44, 44, 16
COLOURS = ("#c8ccd4", "#93a8c4", "#5b84b1", "#1f4e79")
DARK = COLOURS[2:]
INK, GRID, FLOOR, AIM = "#222222", "#e3e5e8", "#c0392b", "#1e8449"
GRID_STEPS = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Bars of one figure, 0..1, in the order of the legend; where a floor and an aim are, lines across them."""

    label: str
    figure: str
    values: tuple[float, ...]
    floor: float | None = None
    aim: float | None = None


def plot(title: str, legend: Sequence[str], groups: Sequence[Group]) -> str:
    bars = len(legend)
    group_width = bars * BAR + (bars - 1) * GAP
    width = LEFT + RIGHT + len(groups) * (group_width + GROUP_GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + BOTTOM}" '
        f'viewBox="0 0 {width} {TOP + HEIGHT + BOTTOM}" font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{TOP + HEIGHT + BOTTOM}" fill="#ffffff"/>',
        _text(LEFT, 18, title, size=14),
    ]
    x = LEFT
    for name, colour in zip(legend, COLOURS, strict=False):
        parts += [f'<rect x="{x}" y="28" width="10" height="10" fill="{colour}"/>', _text(x + 14, 37, name)]
        x += 30 + 7 * len(name)
    for name, colour in (("floor", FLOOR), ("aim", AIM)):
        parts += [_line(x, 33, x + 12, 33, colour, 2), _text(x + 16, 37, name)]
        x += 60
    for step in range(GRID_STEPS + 1):
        value = step / GRID_STEPS
        parts += [_line(LEFT, _y(value), width - RIGHT, _y(value), GRID, 1)]
        parts += [_text(LEFT - 6, _y(value) + 4, f"{value:.1f}", anchor="end")]
    for index, group in enumerate(groups):
        left = LEFT + GROUP_GAP / 2 + index * (group_width + GROUP_GAP)
        parts += _group(group, left, group_width)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _group(group: Group, left: float, width: float) -> list[str]:
    parts = []
    for number, (value, colour) in enumerate(zip(group.values, COLOURS, strict=False)):
        x, top = left + number * (BAR + GAP), _y(value)
        parts.append(
            f'<rect x="{x:g}" y="{top:g}" width="{BAR}" height="{TOP + HEIGHT - top:g}" fill="{colour}">'
            f"<title>{value:.3f}</title></rect>"
        )
        ink = "#ffffff" if colour in DARK else INK  # at the foot of the bar, where no line crosses it
        parts.append(_text(x + BAR / 2, TOP + HEIGHT - 5, f"{value:.3f}", size=9, anchor="middle", colour=ink))
    for mark, colour in ((group.floor, FLOOR), (group.aim, AIM)):
        if mark is not None:
            parts.append(_line(left - 4, _y(mark), left + width + 4, _y(mark), colour, 1.5))
    middle = left + width / 2
    parts.append(_text(middle, TOP + HEIGHT + 16, group.label, anchor="middle"))
    parts.append(_text(middle, TOP + HEIGHT + 31, group.figure, anchor="middle", size=10))
    return parts


def _y(value: float) -> float:
    return round(TOP + HEIGHT * (1 - min(max(value, 0.0), 1.0)), 1)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, *, size: int = 11, anchor: str = "start", colour: str = INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'

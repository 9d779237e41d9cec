"""Line plots in a grid of panels, as SVG and with nothing but the standard library."""

import math
from html import escape

COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#e377c2")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 330, 220, 62, 26, 34  # of a panel, and the space around its axes


class Axis:
    """Maps values to places between `begin` and `end`; powers of ten are the marks of a logarithmic one."""

    def __init__(self, values, begin, end, logarithmic):
        self.map = math.log10 if logarithmic else float
        low, high = self.map(min(values)), self.map(max(values))
        if high - low < 1e-9 * max(1.0, abs(high)):
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.begin, self.end, self.logarithmic = low, high, begin, end, logarithmic

    def __call__(self, value):
        return self.begin + (self.map(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def marks(self):
        if self.logarithmic:
            first, last = math.ceil(self.low), math.floor(self.high)
            return [10.0**k for k in range(first, last + 1, max(1, (last - first + 1) // 6))]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= next(k for k in (1, 2, 5, 10) if (self.high - self.low) / (k * step) <= 6)
        return [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def text(x, y, words, anchor="middle", size=10):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def panel(plot, left, top, colours, log_x, log_y):
    """`plot` is {"title", "lines": {name: [(x, y), ...]}}; values that a logarithm cannot take are left out."""
    lines = {name: [(x, y) for x, y in points if (x > 0 or not log_x) and (y > 0 or not log_y)]
             for name, points in plot["lines"].items()}
    lines = {name: points for name, points in lines.items() if points}
    right, bottom = left + WIDTH - 12 - LEFT, top + HEIGHT - TOP - BOTTOM
    out = [f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="#444"/>',
           text((left + right) / 2, top - 8, plot["title"], size=11)]
    points = [point for line in lines.values() for point in line]
    if not points:
        return out + [text((left + right) / 2, (top + bottom) / 2, "nothing measured")]
    x_axis = Axis([x for x, _ in points], left + 4, right - 4, log_x)
    y_axis = Axis([y for _, y in points], bottom - 4, top + 4, log_y)
    for mark in x_axis.marks():
        out += [f'<path d="M{x_axis(mark):.1f} {top}V{bottom}" stroke="#ddd"/>',
                text(x_axis(mark), bottom + 12, f"{mark:.4g}", size=9)]
    for mark in y_axis.marks():
        out += [f'<path d="M{left} {y_axis(mark):.1f}H{right}" stroke="#ddd"/>',
                text(left - 4, y_axis(mark) + 3, f"{mark:.4g}", "end", 9)]
    for name, line in lines.items():
        places = " ".join(f"{x_axis(x):.1f},{y_axis(y):.1f}" for x, y in line)
        out.append(f'<polyline points="{places}" fill="none" stroke="{colours[name]}" stroke-width="1.5"/>')
        if len(line) <= 12:
            out += [f'<circle cx="{x_axis(x):.1f}" cy="{y_axis(y):.1f}" r="2" fill="{colours[name]}"/>' for x, y in line]
    return out


def svg(plots, columns, x_label, y_label, log_x=True, log_y=True):
    """The document; panels are filled row by row."""
    names = list(dict.fromkeys(name for plot in plots for name in plot["lines"]))
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
    head = 24 + 16 * math.ceil(len(names) / 5)
    width, height = columns * WIDTH + 20, math.ceil(len(plots) / columns) * HEIGHT + head + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for k, name in enumerate(names):
        x, y = 20 + (k % 5) * (width - 30) / 5, 16 + 16 * (k // 5)
        out += [f'<path d="M{x:.1f} {y - 4}h18" stroke="{colours[name]}" stroke-width="3"/>', text(x + 22, y, name, "start")]
    for k, plot in enumerate(plots):
        out += panel(plot, 10 + LEFT + (k % columns) * WIDTH, head + TOP + (k // columns) * HEIGHT, colours, log_x, log_y)
    out.append(text(width / 2, height - 6, f"x: {x_label};  y: {y_label}"))
    return "\n".join([*out, "</svg>\n"])

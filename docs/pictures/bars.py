"""Figures of Benchmarks/run beside others as bars."""

import html

WIDTH, LABEL, BAR, GAP = 760, 300, 20, 8
STYLE = """
text { font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #57606a }
.t { font-weight: bold; fill: #24292f }
@media (prefers-color-scheme: dark) { text { fill: #9da7b3 } .t { fill: #e6edf3 } }
"""
OURS, OTHER = "#2f81f7", "#9da7b3"


def svg(document):
    figures = {figure["name"]: figure for figure in document["figures"]}
    edit = lambda name: figures[f"One edit, 100,000 items, {name}"]
    beside = lambda name: figures[f"{name} beside Redis, flushed on both"]
    catch_up = figures["Catch-up, 100,000 items"]
    groups = [
        ("One write, until the other machine has it on disk: median, ms", [
            ("Muster", edit("p50")["value"], True), ("Redis, SET and WAIT, flushing", beside("p50")["baseline"], False),
            ("two commits of SQLite and a TCP echo", edit("p50")["baseline"], False)]),
        ("The same, 99th percentile, ms", [
            ("Muster", edit("p99")["value"], True), ("Redis, SET and WAIT, flushing", beside("p99")["baseline"], False),
            ("two commits of SQLite and a TCP echo", edit("p99")["baseline"], False)]),
        ("100,000 items of six fields to an empty laptop, s", [
            ("Muster, all of it", catch_up["value"], True),
            ("600,000 rows into SQLite, no network", catch_up["baseline"], False)]),
    ]
    parts, y = [], 10
    for title, bars in groups:
        y += 22
        parts.append(f'<text class="t" x="0" y="{y}">{html.escape(title)}</text>')
        y += 10
        longest = max(value for _, value, _ in bars)
        for name, value, is_ours in bars:
            length = max(2, value / longest * (WIDTH - LABEL - 70))
            parts.append(f'<text x="{LABEL - 10}" y="{y + 15}" text-anchor="end">{html.escape(name)}</text>')
            parts.append(
                f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" fill="{OURS if is_ours else OTHER}"/>')
            parts.append(f'<text x="{LABEL + length + 8:.1f}" y="{y + 15}">{value:.2f}</text>')
            y += BAR + GAP
    machine = document["machine"]
    place = f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['time']}, {machine['revision']}"
    y += 20
    parts.append(f'<text x="0" y="{y}">{html.escape(place)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" width="{WIDTH}">\n<style>{STYLE}</style>\n'
        + "\n".join(parts) + "\n</svg>\n")

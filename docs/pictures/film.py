"""A recording of a terminal (asciicast v2) as an SVG that plays by itself."""

import html
import json
import re

CELL, LINE, MARGIN = 8.4, 18, 14
# Nobody likes to wait for a picture.
LONGEST_REST_SECONDS = 1.0
# What changes faster is not seen.
FRAME_SECONDS = 0.35
END_SECONDS = 3.0
COLORS = {"31": "#e06c75", "32": "#7ec16e", "33": "#e5c07b", "36": "#56b6c2"}
STYLE = """
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
.b { font-weight: bold } .d { fill: #7f848e }
"""


def svg(cast):
    """The picture of a recording whose program paints its whole screen each time, as `muster job watch` does."""
    lines = cast.strip().split("\n")
    header = json.loads(lines[0])
    frames = paced(screens([json.loads(line) for line in lines[1:]]))
    if not frames:
        raise ValueError("the recording shows no screen")
    total = frames[-1][0] + END_SECONDS
    width, height = header["width"] * CELL + 2 * MARGIN, header["height"] * LINE + 2 * MARGIN
    # A line that scrolls is drawn once and used in many places; what comes and goes at the same moments shares a rule.
    texts, spans, shown = {}, {}, []
    for row in range(header["height"]):
        for begin, end, text in runs(frames, row, total):
            if text.strip():
                text = texts.setdefault(text, f"t{len(texts)}")
                span = spans.setdefault((begin, end), f"s{len(spans)}")
                shown.append(f'<use href="#{text}" y="{(row + 0.75) * LINE + MARGIN:.1f}" class="{span}"/>')
    rules = [rule(name, begin, end, total) for (begin, end), name in spans.items()]
    lines = [f'<g id="{name}">{line(text)}</g>' for text, name in texts.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">\n'
        f'<title>muster job watch</title>\n<style>{STYLE}{chr(10).join(rules)}\n</style>\n'
        f'<defs>{chr(10).join(lines)}</defs>\n<rect width="100%" height="100%" rx="8" fill="#21252b"/>\n<g fill="#d7dae0">\n'
        + "\n".join(shown) + "\n</g>\n</svg>\n")


def screens(events):
    """(seconds, lines) of each painted screen; each begins with the cursor's way home."""
    painted = []
    text = ""
    for seconds, kind, more in events:
        if kind != "o":
            continue
        text += more
        *whole, text = re.split(r"(?=\x1b\[H)", text)
        # The last one is whole when what clears the rest of the screen has come.
        if text.endswith("\x1b[J"):
            whole, text = [*whole, text], ""
        for screen in whole:
            if screen.startswith("\x1b[H"):
                screen = screen.removeprefix("\x1b[H").split("\x1b[J")[0].replace("\x1b[K", "")
                painted.append((seconds, re.split(r"\r*\n", screen)))
    return painted


def paced(painted):
    """The same with shorter rests, at most a screen a frame, without what looks as before."""
    frames = []
    time = last = None
    for seconds, lines in painted:
        time = 0.0 if time is None else time + min(seconds - last, LONGEST_REST_SECONDS)
        last = seconds
        if frames and time < frames[-1][0] + FRAME_SECONDS:
            frames[-1] = (frames[-1][0], lines)
        elif not frames or frames[-1][1] != lines:
            frames.append((time, lines))
    return frames


def runs(frames, row, total):
    """(begin, end, text) of what stands in a row, one after the other."""
    found = []
    for seconds, lines in frames:
        text = lines[row] if row < len(lines) else ""
        if not found or found[-1][1] != text:
            found.append((seconds, text))
    ends = [begin for begin, _ in found[1:]] + [total]
    return [(begin, end, text) for (begin, text), end in zip(found, ends)]


def rule(name, begin, end, total):
    """Seen from `begin` to `end`, over and over; without animations the end of the film is seen."""
    steps = [(0.0, begin == 0)] if begin > 0 else []
    steps += [(begin / total, True)] + ([(end / total, False)] if end < total else [])
    frames = " ".join(f"{share:.3%}{{visibility:{'visible' if on else 'hidden'}}}" for share, on in steps)
    return (
        f"@keyframes {name}{{{frames}}} "
        f".{name}{{visibility:{'visible' if end == total else 'hidden'};animation:{name} {total:.2f}s step-end infinite}}")


def line(text):
    """One line as pieces, every piece at its column."""
    pieces, style, column = [], set(), 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";"):
                style = style | {code} if code not in ("", "0") else set()
        else:
            # Viewers do not agree on what several spaces are.
            for words in re.finditer(r"\S+(?: \S+)*", part):
                pieces.append(piece(words[0], column + words.start(), style))
            column += len(part)
    return "".join(pieces)


def piece(text, column, style):
    kind = "".join(name for code, name in (("1", "b"), ("2", "d")) if code in style)
    color = next((f' fill="{COLORS[code]}"' for code in sorted(style) if code in COLORS), "")
    # Fonts differ in how wide they draw a rule.
    length = f' textLength="{len(text) * CELL:.0f}"' if text.strip("─") == "" else ""
    return (
        f'<text x="{MARGIN + column * CELL:.1f}"{length}' + (f' class="{kind}"' if kind else "")
        + f"{color}>{html.escape(text, quote=False)}</text>")

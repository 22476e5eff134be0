"""The pictures of the README: a recording becomes a film that shows each line when it stood there, and no longer."""

import json
import os
import re
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "docs", "pictures"))
import film  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def cast(*screens):
    lines = [json.dumps({"version": 2, "width": 20, "height": 2})]
    for seconds, *texts in screens:
        painted = "\x1b[H" + "\r\n".join(text + "\x1b[K" for text in texts) + "\x1b[J"
        # What was read in two pieces is one screen.
        lines += [json.dumps([seconds, "o", piece]) for piece in (painted[:5], painted[5:])]
    return "\n".join(lines) + "\n"


def shown(text):
    """Of each line of a film: row, text, and from when to when it is seen, in shares of the whole."""
    root = ET.fromstring(text)
    texts = {group.get("id"): "|".join(piece.text for piece in group) for group in root.iter(f"{SVG}g") if group.get("id")}
    rules = dict(re.findall(r"@keyframes (\w+)\{(.*?)\} \.", root.find(f"{SVG}style").text))
    found = []
    for use in root.iter(f"{SVG}use"):
        steps = re.findall(r"([\d.]+)%\{visibility:(\w+)\}", rules[use.get("class")])
        begin = next(float(share) for share, seen in steps if seen == "visible")
        end = next((float(share) for share, seen in steps if seen == "hidden" and float(share) > begin), 100.0)
        found.append((float(use.get("y")), texts[use.get("href")[1:]], begin, end))
    return found


def test_each_line_is_seen_while_it_stood_there():
    picture = film.svg(cast(
        (0, "\x1b[1mSmith\x1b[0m  \x1b[32m<3>\x1b[0m", "one"), (1, "\x1b[1mSmith\x1b[0m  \x1b[32m<3>\x1b[0m", "two"),
        (1.5, "\x1b[1mSmith\x1b[0m  \x1b[32m<3>\x1b[0m", "one")))
    (top, title, *always), *below = sorted(shown(picture))
    assert (title, always) == ("Smith|<3>", [0, 100])
    total = 1.5 + film.END_SECONDS
    expected = [("one", 0, 1 / total), ("one", 1.5 / total, 1), ("two", 1 / total, 1.5 / total)]
    assert [(text, round(begin), round(end)) for y, text, begin, end in sorted(below, key=lambda one: one[1:])] == [
        (text, round(begin * 100), round(end * 100)) for text, begin, end in expected]
    assert all(y > top for y, *_ in below)


def test_rests_are_shortened_and_what_nobody_can_see_is_left_out():
    hurried = [(60 + number / 100, "busy", str(number)) for number in range(20)]
    lines = shown(film.svg(cast((0, "idle", ""), *hurried, (120, "done", ""))))
    assert [text for y, text, *_ in lines if text.isdigit()] == ["19"]
    total = 2 * film.LONGEST_REST_SECONDS + 19 / 100 + film.END_SECONDS
    begin = {text: begin for _, text, begin, _ in lines}
    assert abs(begin["done"] - 100 * (total - film.END_SECONDS) / total) < 0.1


def test_columns_stay_where_they_were():
    picture = film.svg(cast((0, "a   b c  \x1b[2md\x1b[0m",)))
    pieces = [(piece.text, float(piece.get("x"))) for piece in ET.fromstring(picture).iter(f"{SVG}text")]
    assert pieces == [(text, round(film.MARGIN + column * film.CELL, 1)) for text, column in (("a", 0), ("b c", 4), ("d", 9))]

"""Rules for all that a person sees in a terminal: that it fits, and that it is written for them."""

import re
import unicodedata

# What says to the terminal how text looks, and everything else that is said to it alone.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A picture begins at the top left; a bar of progress begins its line anew.
ANEW = re.compile(r"\x1b\[H|\r")
# What developers call things among themselves.
DEVELOPERS = (
    "mutation", "transform", "lane", "parked", "replica", "vector", "tombstone", "nil", "null", "errno", "digest", "payload",
    "outbox", "journal", "canonical")
WORD = re.compile(r"[a-z]+", re.IGNORECASE)
# JSON, and how Swift prints what it was not told how to.
PRINTED_VALUE = re.compile(r"""Optional\(|\[":|init\(|\w\(\w+: |\w+Error\.|"\s*:\s*["\d\[{]|^\s*[{}\]],?$""", re.MULTILINE)
WHOLE_ID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b")
# A digest or a path that has a line, or the column of one, to itself, or a command of an example: it is compared or copied as one piece.
ONE_PIECE = re.compile(r"(\S.*  +| +|Digest )?([0-9a-f]{64}|/\S+)|  muster .*")
# How a bar of progress goes, so that its line can be written anew.
BAR_GOES = "\r\x1b[K"
# What an error asks for, somewhere in it.
REMEDY = re.compile(
    r"'muster [a-z]|--\w|\b(see|give|name|say|choose|write|ask|start|restart|try|add|use|take|connect|join|compare|type|did you"
    r" mean|look|let|move|put|free|wait|run|open|check|make|correct|advance|convert|begin|close)\b", re.IGNORECASE)
# sysexits.h as far as it is used, and 1 for what is not as it should be or was declined.
CODES = (1, 2, 64, 65, 66, 69, 70, 73, 74, 75, 77, 78)


def width(text):
    """In columns of a terminal, with each character by itself."""
    return sum(columns(character) for character in text)


def columns(character):
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lines(text):
    """What stands on the terminal, line by line, each without what is said to the terminal itself."""
    return [SEQUENCE.sub("", line) for picture in ANEW.split(text) for line in picture.split("\n")]


def words(text):
    found = {word.lower() for word in WORD.findall(text)}
    return [word for word in DEVELOPERS if word in found or word + "s" in found]


def broken(seen):
    """Which rules are broken by what was seen, and by which line: `printed` and `said` on a terminal of so many `columns`, ending
    with `code`; whether somebody has `answered`."""
    for part, text in (("", seen.printed), ("error ", seen.said)):
        for line in lines(text):
            if width(line) > seen.columns and not ONE_PIECE.fullmatch(line):
                yield f"{part}wide", line
            if line != line.rstrip() and not line.endswith(("] ", ": ")):
                yield f"{part}trailing", line
            if value := PRINTED_VALUE.search(line):
                yield f"{part}value", value[0]
            if WHOLE_ID.search(line):
                yield f"{part}id", line
            for word in words(line):
                yield f"{part}word {word}", line
        for character in sorted(set(COLOUR.sub("", text.replace(BAR_GOES, ""))) - {"\n"}):
            if unicodedata.category(character) == "Cc":
                yield f"{part}control", repr(character)
    sentences = [line for line in lines(seen.said) if line.startswith("muster: ")]
    for sentence in sorted({one for one in sentences if sentences.count(one) > 1}):
        yield "error again and again", sentence
    # Who has been told no, or ended it with Ctrl-C, has made no error.
    if seen.code > 1 or seen.code == 1 and not seen.answered:
        yield from broken_by_error(seen)


def broken_by_error(seen):
    said = "\n".join(lines(seen.said)).strip("\n")
    if seen.code not in CODES:
        yield "code", seen.code
    # What finds something to be wrong, as the doctor, has printed it.
    if not said:
        if seen.code > 2 or not seen.printed:
            yield "silence", seen.printed
        return
    if not re.search(r"\b(muster|Error): ", said):
        yield "sender", said
    if "\n\n" in said:
        yield "paragraphs", said
    if not REMEDY.search(re.sub(r"^(muster|Error): ", "", said)):
        yield "remedy", said

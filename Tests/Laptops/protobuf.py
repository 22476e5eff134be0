"""The fields of protobuf messages, written by hand so that they can be wrong, too, and read."""

import struct


def varint(number):
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    """Returns the number that begins there, and where the next thing does."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def entries(message):
    """What stands in a message, as (field, value), in its order."""
    found, at = [], 0
    while at < len(message):
        tag, at = read_varint(message, at)
        if tag & 7 == 0:
            value, at = read_varint(message, at)
        else:
            count, at = read_varint(message, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = message[at : at + count], at + count
        found.append((tag >> 3, value))
    return found


def fields(message):
    """The same as {field: value}: the last one of a field that is there more than once."""
    return dict(entries(message))

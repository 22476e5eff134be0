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


def fields(message):
    """What stands in a message, as {field: value}: the last one of a field that is there more than once."""
    found, position = {}, 0

    def read_varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        key = read_varint()
        if key & 7 == 0:
            found[key >> 3] = read_varint()
            continue
        count = {1: 8, 2: None, 5: 4}[key & 7] or read_varint()
        found[key >> 3] = message[position : position + count]
        position += count
    return found

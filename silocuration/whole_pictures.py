"""Whether a picture is whole: read from its first byte to its end, without decoding it (pure).

Bytes behind the end are ignored, as browsers do.

Source: ISO/IEC 15948, 5; ITU-T T.81, B; GIF89a, 17–27; RFC 9649, 2.
"""

import zlib


def is_whole(content: bytes) -> bool:
    """Whether a PNG, JPEG, GIF or WebP picture has all its parts; False for any other content."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return _is_whole_png(content)
        if content.startswith(b"\xff\xd8"):
            return _is_whole_jpeg(content)
        if content[:6] in {b"GIF87a", b"GIF89a"}:
            return _is_whole_gif(content)
        return content[:4] == b"RIFF" and content[8:12] == b"WEBP" and _is_whole_webp(content)
    except IndexError:  # it ends too early
        return False


def _is_whole_png(content: bytes) -> bool:
    """Whether its chunks, each with its checksum, begin with IHDR, have IDAT, and reach IEND."""
    place, has_data = 8, False
    while place + 12 <= len(content):
        end = place + 8 + int.from_bytes(content[place : place + 4])
        name = content[place + 4 : place + 8]
        check = zlib.crc32(memoryview(content)[place + 4 : end])
        if content[end : end + 4] != check.to_bytes(4) or (place == 8) != (name == b"IHDR"):
            return False
        if name == b"IEND":
            return has_data
        has_data = has_data or name == b"IDAT"
        place = end + 4
    return False


def _is_whole_jpeg(content: bytes) -> bool:
    """Whether it has a frame and a scan, and an end behind them."""
    place, has_frame = 2, False
    while content[place] == 0xFF:
        marker = content[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        has_frame = has_frame or (0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC})
        length = content[place + 2] << 8 | content[place + 3]
        place += 2 + length
        if marker == 0xDA:  # in what follows 0xFF is always followed by 0, a restart or a marker
            return has_frame and content.find(b"\xff\xd9", place) >= 0
        if length < 2:
            return False
    return False


def _is_whole_gif(content: bytes) -> bool:
    """Whether its blocks have an image and reach the trailer."""
    place, has_image = 13 + _colours(content[10]), False
    while (kind := content[place]) != 0x3B:
        if kind == 0x2C:
            place += 11 + _colours(content[place + 9])
            has_image = True
        elif kind == 0x21:
            place += 2
        else:
            return False
        while length := content[place]:
            place += 1 + length
        place += 1
    return has_image


def _colours(flags: int) -> int:
    """The size of a table of colours, in bytes."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _is_whole_webp(content: bytes) -> bool:
    """Whether its chunks have an image and reach the end that it states."""
    end = 8 + int.from_bytes(content[4:8], "little")
    place, has_image = 12, False
    while place + 8 <= end <= len(content):
        has_image = has_image or content[place : place + 4] in {b"VP8 ", b"VP8L", b"ANMF"}
        length = int.from_bytes(content[place + 4 : place + 8], "little")
        place += 8 + length + length % 2
    return has_image and place in {end, end + 1}  # the last is not padded by all

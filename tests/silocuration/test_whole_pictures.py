"""Pictures are taken only if they are whole."""

from io import BytesIO

import pytest
from PIL import Image

from silocuration.whole_pictures import is_whole

KINDS = {
    "PNG": {}, "JPEG": {}, "progressive": {"progressive": True}, "GIF": {}, "WEBP": {},
    "lossless": {"lossless": True},
}  # fmt: skip
OF = {"progressive": "JPEG", "lossless": "WEBP"}


def picture(kind: str) -> bytes:
    """A gradient as one kind of file."""
    out = BytesIO()
    image = Image.linear_gradient("L").convert("RGB")
    image.save(out, OF.get(kind, kind), **KINDS[kind])  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_whole_picture_is_recognized_and_a_part_of_it_is_not(kind: str) -> None:
    content = picture(kind)
    assert is_whole(content)
    assert is_whole(content + b"behind the end")
    step = max(1, len(content) // 200)
    for length in (*range(0, len(content) - 1, step), len(content) - 2):
        assert not is_whole(content[:length]), length
    for beginning in (3, 8, 12, 16):
        assert not is_whole(content[:beginning] + bytes(40))
        assert not is_whole(content[:beginning] + b"\xff" * 4000)


def test_moving_pictures_and_those_with_profiles_are_whole() -> None:
    frames = [Image.new("P", (9, 9), colour) for colour in (1, 2, 3)]
    for kind in ("GIF", "WEBP", "PNG"):
        out = BytesIO()
        frames[0].save(out, kind, save_all=True, append_images=frames[1:], icc_profile=b"x" * 300)
        assert is_whole(out.getvalue()), kind


def test_png_with_a_changed_byte_is_not_whole() -> None:
    content = bytearray(picture("PNG"))
    content[len(content) // 2] ^= 1
    assert not is_whole(bytes(content))


@pytest.mark.parametrize("content", [b"", b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"<svg/>"])
def test_what_is_no_picture_is_not_whole(content: bytes) -> None:
    assert not is_whole(content)

"""What comes back from a SWORD server may be any bytes."""

import io
import zipfile

import pytest

from siloexport.targets.sword.package import unpacked


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_damaged_zip_is_no_content(compression: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        made.writestr("a", b"hello world" * 50)
    content = bytearray(file.getvalue())
    begin = 30 + len("a")  # the header before the content
    content[begin + 4 : begin + 16] = b"\xff" * 12
    with pytest.raises(ValueError, match="not a valid zip"):
        unpacked(io.BytesIO(bytes(content)), 1 << 20)

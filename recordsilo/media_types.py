"""Media types by the ending of a file's name: the same on every machine."""

import os

TYPES = {
    ".7z": "application/x-7z-compressed", ".aac": "audio/aac", ".avi": "video/x-msvideo",
    ".bib": "application/x-bibtex", ".bmp": "image/bmp", ".bz2": "application/x-bzip2",
    ".css": "text/css", ".csv": "text/csv", ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".epub": "application/epub+zip", ".flac": "audio/flac", ".gif": "image/gif",
    ".gz": "application/gzip", ".htm": "text/html", ".html": "text/html",
    ".jp2": "image/jp2", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
    ".js": "text/javascript", ".json": "application/json", ".jsonld": "application/ld+json",
    ".m4a": "audio/mp4", ".md": "text/markdown", ".mkv": "video/x-matroska",
    ".mov": "video/quicktime", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
    ".mpeg": "video/mpeg", ".mpg": "video/mpeg",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text", ".ogg": "audio/ogg",
    ".ogv": "video/ogg", ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf", ".png": "image/png",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".ps": "application/postscript", ".py": "text/x-python", ".rdf": "application/rdf+xml",
    ".rtf": "application/rtf", ".svg": "image/svg+xml", ".tar": "application/x-tar",
    ".tex": "application/x-tex", ".tif": "image/tiff", ".tiff": "image/tiff",
    ".tsv": "text/tab-separated-values", ".ttl": "text/turtle", ".txt": "text/plain",
    ".warc": "application/warc", ".wav": "audio/vnd.wave", ".webm": "video/webm",
    ".webp": "image/webp", ".xhtml": "application/xhtml+xml",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml", ".xz": "application/x-xz", ".yaml": "application/yaml",
    ".yml": "application/yaml", ".zip": "application/zip", ".zst": "application/zstd",
}  # fmt: skip
UNKNOWN = "application/octet-stream"


def media_type(path: str, *, is_metadata: bool = False) -> str:
    """Return a file's media type; `UNKNOWN` if its name does not tell.

    Args:
        is_metadata: Whether it is a metadata file, which is XML whatever its name.
    """
    if is_metadata:
        return TYPES[".xml"]
    return TYPES.get(os.path.splitext(path)[1].lower(), UNKNOWN)

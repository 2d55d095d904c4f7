"""What pyproject.toml cannot say: the README without pictures and links into the checkout."""

import re
from pathlib import Path

from setuptools import setup

README = Path("README.md").read_text(encoding="utf-8")
README = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*", "", README)
README = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", README)

setup(long_description=README, long_description_content_type="text/markdown")

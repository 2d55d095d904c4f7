"""Documents with anything missing, doubled or moved, for readers that have to take all of them."""

import copy
from random import Random

from lxml import etree


def mangled(content: bytes, random: Random, more: list[str] | None = None) -> bytes:
    """A document after one to eight changes.

    Args:
        more: Texts that elements get, besides some that are in the way everywhere.
    """
    texts = ["", " \n", "10.5555/x", "\u202e", "9" * 50, None, *(more or ())]
    root = etree.fromstring(content)
    for _ in range(random.randint(1, 8)):
        one, other = random.choices(list(root.iter(etree.Element)), k=2)
        change = random.randrange(5)
        if change == 0 and one.getparent() is not None:
            one.getparent().remove(one)
        elif change == 1 and one.getparent() is not None:
            one.addnext(copy.deepcopy(one))
        elif change == 2:
            one.text = random.choice(texts)
        elif change == 3:
            one.attrib.clear()
        elif change == 4:
            other.append(copy.deepcopy(one))
    return etree.tostring(root)

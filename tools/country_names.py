"""Make ``countries.json``: the names of countries in each language of the page, from CLDR.

Babel has the data, under the Unicode License V3, which lies beside the file. Run again for a new
language of `webui.words.locales`:

    python tools/country_names.py > webui/usage/countries.json
"""

import json

from babel import Locale

from webui.words.locales import LOCALES

SHORT = {
    "HK": {"en": "Hong Kong", "de": "Hongkong", "fr": "Hong Kong"},
    "MO": {"en": "Macao", "de": "Macau", "fr": "Macao"},
    "PS": {"en": "Palestine", "de": "Palästina", "fr": "Palestine"},
}
"""CLDR's short names, which Babel does not have, of those whose other name is an official one."""
NO_COUNTRIES = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}


def main() -> None:
    """Print the names: language → code (ISO 3166-1) → name."""
    found = {}
    for language in LOCALES:
        names = {
            code: SHORT.get(code, {}).get(language, name)
            for code, name in Locale(language).territories.items()
            if len(code) == 2 and code.isalpha() and code not in NO_COUNTRIES
        }
        found[language] = dict(sorted(names.items()))
    print(json.dumps(found, ensure_ascii=False, indent=0))  # noqa: T201


if __name__ == "__main__":
    main()

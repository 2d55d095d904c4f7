"""Languages and scripts: which ``lang`` an element of the page may have (pure).

Screen readers choose a voice, and browsers a font and quotation marks, by ``lang``; a
wrong or malformed one is worse than none. Direction needs no code: the templates set
``dir="auto"``, which uses the first strong letter of each value.

Source: BCP 47; ISO 639; WCAG 2.2, success criterion 3.1.2.
"""

import re
import unicodedata

_TAG = re.compile(r"(?P<language>[A-Za-z]{2,3})(?P<rest>(?:[-_][A-Za-z0-9]{2,8})*)")

_ISO_639_2 = """
afr af alb sq ara ar arm hy baq eu bel be ben bn bos bs bul bg bur my cat ca chi zh cze cs
dan da deu de dut nl ell el eng en est et eus eu fas fa fin fi fra fr fre fr geo ka ger de
gle ga glg gl gre el guj gu heb he hin hi hrv hr hun hu hye hy ice is ind id isl is ita it
jpn ja kan kn kat ka kaz kk khm km kor ko lao lo lat la lav lv lit lt ltz lb mac mk mal ml
mar mr may ms mkd mk mlt mt mon mn msa ms mya my nep ne nld nl nno nn nob nb nor no ori or
pan pa per fa pol pl por pt pus ps ron ro rum ro rus ru san sa sin si slk sk slo sk slv sl
snd sd spa es sqi sq srp sr swa sw swe sv tam ta tel te tgk tg tha th tib bo tur tr ukr uk
urd ur uzb uz vie vi wel cy cym cy xho xh yid yi zho zh zul zu
"""
_CODES = _ISO_639_2.split()
_SHORT = dict(zip(_CODES[::2], _CODES[1::2], strict=True))
"""ISO 639-2 codes (bibliographic and terminological) → ISO 639-1, which BCP 47 prefers."""

_OTHERS = (
    "am as az br ceb co dv dz eo fo fy gd gn ha haw ht ig ku ky la mg mi om rw sm so st sw ta "
    "ti tk tl tn to tt ug wa wo yo"
)
_KNOWN = frozenset(_SHORT.values()) | frozenset(_OTHERS.split())

_SCRIPTS = {
    "ARABIC": {"ar", "fa", "ur", "ps", "sd", "ug", "ku"},
    "HEBREW": {"he", "yi"},
    "CYRILLIC": {"ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "mn", "tg", "tt", "uz", "bs"},
    "GREEK": {"el"},
    "HIRAGANA": {"ja"},
    "KATAKANA": {"ja"},
    "HANGUL": {"ko"},
    "CJK": {"zh", "ja", "ko"},
    "DEVANAGARI": {"hi", "mr", "ne", "sa"},
    "BENGALI": {"bn", "as"},
    "TAMIL": {"ta"},
    "THAI": {"th"},
    "GEORGIAN": {"ka"},
    "ARMENIAN": {"hy"},
}
_NOT_LATIN = frozenset().union(*_SCRIPTS.values()) - {"uz", "bs", "sr", "ku", "az", "tk"}


def language_tag(text: str | None) -> str | None:
    """Return a repository's language code as a BCP 47 tag, or None if it is not valid.

    ``eng`` is ``en``, ``pt_BR`` is ``pt-BR``; names (``English``) and codes without a
    known language are left out.
    """
    match = _TAG.fullmatch((text or "").strip())
    if not match:
        return None
    language = match["language"].lower()
    language = _SHORT.get(language, language)
    if language not in _KNOWN:
        return None
    return language + match["rest"].replace("_", "-")


def text_language(text: str, own: str | None, of_record: str | None) -> str | None:
    """Return the ``lang`` of a value: its own, else the record's if the script fits the language.

    A record in Arabic often has an English title beside the Arabic one; only text in Arabic
    letters is then marked as Arabic.
    """
    if tag := language_tag(own):
        return tag
    tag = language_tag(of_record)
    if tag is None:
        return None
    scripts = _scripts_of(text)
    if scripts:
        return tag if all(tag[:2] in _SCRIPTS[script] for script in scripts) else None
    return None if tag[:2] in _NOT_LATIN else tag


def _scripts_of(text: str) -> set[str]:
    """Return the scripts of the text, other than Latin."""
    words = (unicodedata.name(letter, "").split(" ")[0] for letter in text if letter.isalpha())
    return {word for word in words if word in _SCRIPTS}

"""The configuration of a job, made of a target and of Heritrix's own profile (pure).

The profile is the one that the Heritrix has, so that its beans are those of its version; 3.4.0 and
3.13.0 name alike what is changed here. Source: Heritrix 3, ``profile-crawler-beans.cxml``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate

from lxml import etree

from politeweb.addresses import parts_of
from silocrawl.addresses import fetched_form
from silocrawl.errors import CrawlingError, TargetRefused
from silocrawl.scope import DOCUMENT_ENDINGS, Scope, ScopeKind
from silocrawl.targets import CrawlTarget

FRESH = "=ENTER_AN_URL"
"""What a configuration has that nobody has changed."""
_BEANS = "http://www.springframework.org/schema/beans"
_RULES, _SURT = "org.archive.modules.deciderules.", "surt.SurtPrefixedDecideRule"
_WHOLE = frozenset({ScopeKind.PATH, ScopeKind.ROOT, ScopeKind.SUBDOMAINS})
"""The scopes of which SURT prefixes say what belongs to them."""
_HOST = re.compile(r"[a-z0-9_.-]{1,253}")
_ADDRESS = re.compile(r"https?://[!-\[\]-~]+")


class ProfileUnknown(CrawlingError):
    """The profile of a Heritrix has not the beans that are known."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What a job is to be like.

    Attributes:
        name: Of the job.
        target: Its seeds, scope and limits.
        contact: The address at which people are told who crawls.
        seeds: How many there are, for the limits; those of records' links are fed later.
        interval: Least seconds between requests to a host; None: as the profile has it.
        delays: Host → the same for it.
        checkpoint_minutes: Between checkpoints that Heritrix makes by itself; 0: none.
    """

    name: str
    target: CrawlTarget
    contact: str
    seeds: int = 1
    interval: float | None = None
    delays: Mapping[str, float] = field(default_factory=dict)
    checkpoint_minutes: int = 60

    def __post_init__(self) -> None:
        """Refuse what no configuration can say.

        Raises:
            TargetRefused: Says what is wrong.
        """
        if not _ADDRESS.fullmatch(self.contact):
            raise TargetRefused("the contact is an address such as https://example.org/crawler")
        for host in self.delays:
            if not _HOST.fullmatch(host):
                raise TargetRefused(
                    f"{host!r} is not a valid name of a host; write it in lower case"
                )


def surts_of(scope: Scope, seed: str) -> list[str]:
    """The SURT prefixes of what belongs to a seed; none if it is not said by prefixes."""
    if scope.kind not in _WHOLE:
        return []
    parts = parts_of(seed)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    bare = _reversed(host)
    if scope.kind is ScopeKind.SUBDOMAINS:
        return [f"http://({bare}"]
    path = parts.path[: parts.path.rfind("/") + 1] if scope.kind is ScopeKind.PATH else ""
    hosts = [bare] if _is_number(host) else [bare, f"{bare}www,"]
    return [f"http://({one}{port}){path or '/'}" for one in hosts]


def configuration(profile: bytes, plan: JobPlan) -> bytes:
    """Return the ``crawler-beans.cxml`` of a job.

    Args:
        profile: That of Heritrix, as it makes it for a new job.
        plan: What the job is to be like.

    Raises:
        ProfileUnknown: It is not one that is known.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(profile, parser)
    except etree.XMLSyntaxError:
        raise ProfileUnknown("the configuration of the new job is not XML") from None
    target = plan.target
    _value(root, f"//*[@id='simpleOverrides']/{_one('property')}/{_one('value')}").text = (
        "\n" + "".join(f"{name}={value}\n" for name, value in _settings(plan).items())
    )
    seeds = [fetched_form(target.url)] if target.url else []
    _value(root, "//*[@key='seeds.textSource.value']").text = "\n".join(["", *seeds, ""])
    accepted = _value(root, "//*[@id='acceptSurts']")
    if target.scope.kind in _WHOLE:
        surts = [f"+{one}" for seed in seeds for one in surts_of(target.scope, seed)]
        _set(accepted, "seedsAsSurtPrefixes", "false")
        _set(accepted, "alsoCheckVia", str(target.scope.plus_one).lower())
        source = _bean(
            _added(accepted, "property", name="surtsSource"), "org.archive.spring.ConfigString"
        )
        _added(_added(source, "property", name="value"), "value").text = "\n".join(["", *surts, ""])
    _scope(root, target)
    for number, (host, seconds) in enumerate(plan.delays.items(), 1):
        _sheet(root, f"silo-delay-{number}", host, seconds)
    return bytes(etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8"))


def _settings(plan: JobPlan) -> dict[str, object]:
    """The lines of the simple overrides; their names are those of beans and properties."""
    limits, is_fed = plan.target.limits, not plan.target.url
    times = max(plan.seeds, 1)
    said: dict[str, object] = {
        "metadata.operatorContactUrl": plan.contact,
        "metadata.jobName": plan.name,
        "metadata.description": f"silo target {plan.target.name}",
        "seeds.sourceTagSeeds": "true",
        "loggerModule.logExtraInfo": "true",
        "crawlController.pauseAtStart": "false",
        "crawlController.runWhileEmpty": str(is_fed).lower(),
        "actionDirectory.initialDelaySeconds": 1,
        "actionDirectory.delaySeconds": 1,
        "warcWriter.prefix": plan.name,
        "checkpointService.checkpointIntervalMinutes": plan.checkpoint_minutes or -1,
        "crawlLimiter.maxDocumentsDownload": limits.pages * times,
        "crawlLimiter.maxBytesDownload": limits.bytes * times,
        "crawlLimiter.maxTimeSeconds": 0 if is_fed else limits.seconds,
    }
    if plan.interval is not None:
        said |= {f"disposition.{name}": value for name, value in _delays(plan.interval).items()}
    return said


def _delays(seconds: float) -> dict[str, object]:
    least = round(seconds * 1000)
    return {
        "minDelayMs": least,
        "maxDelayMs": max(least, 30_000 if seconds else 0),
        "delayFactor": 1.0 if seconds else 0.0,
    }


def _scope(root: etree._Element, target: CrawlTarget) -> None:
    """Let the rules of the scope be those of a target."""
    scope, rules = target.scope, f"//*[@id='scope']//{_one('bean')}"
    is_whole = scope.kind in _WHOLE
    hops = _value(root, f"{rules}[@class='{_RULES}TooManyHopsDecideRule']")
    _set(hops, "maxHops", str(target.limits.hops if is_whole else 0))
    embeds = _value(root, f"{rules}[@class='{_RULES}TransclusionDecideRule']")
    more: list[tuple[str, str]] = []
    if scope.kind is ScopeKind.DOCUMENTS:
        endings = "|".join(map(re.escape, DOCUMENT_ENDINGS))
        more.append(("MatchesRegexDecideRule", rf"(?i)[^?#]*(?:{endings})(?:[;?].*)?"))
    if scope.plus_one and not is_whole:
        more.append(("HopsPathMatchesRegexDecideRule", "[REI]*L?[REI]*"))
    for name, regex in more:
        rule = etree.Element(f"{{{_BEANS}}}bean", {"class": f"{_RULES}{name}"})
        embeds.addnext(rule)
        _set(rule, "decision", "ACCEPT")
        _set(rule, "regex", regex)
    ignored = _value(root, f"{rules}[@class='{_RULES}MatchesListRegexDecideRule']")
    if scope.ignore:
        some = _added(_added(ignored, "property", name="regexList"), "list")
        for pattern in scope.ignore:
            _added(some, "value").text = translate(pattern)


def _sheet(root: etree._Element, name: str, host: str, seconds: float) -> None:
    """Let a host be asked at another pace."""
    sheet = _bean(root, "org.archive.spring.Sheet", id=name)
    entries = _added(_added(sheet, "property", name="map"), "map")
    for key, value in _delays(seconds).items():
        _added(entries, "entry", key=f"disposition.{key}", value=str(value))
    of = _bean(root, "org.archive.crawler.spring.SurtPrefixesSheetAssociation")
    prefixes = _added(_added(of, "property", name="surtPrefixes"), "list")
    for end in (")", ":"):
        _added(prefixes, "value").text = f"http://({_reversed(host)}{end}"
    names = _added(_added(of, "property", name="targetSheetNames"), "list")
    _added(names, "value").text = name


# --------------------------------------------------------------------------- XML


def _one(name: str) -> str:
    return f"*[local-name()='{name}']"


def _value(root: etree._Element, path: str) -> etree._Element:
    found = root.xpath(path)
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], etree._Element):
        raise ProfileUnknown(f"the profile of Heritrix is not one that is known: it has no {path}")
    return found[0]


def _set(bean: etree._Element, name: str, value: str) -> None:
    """Set a property of a bean in place of what it has."""
    for one in bean.findall(f"{{{_BEANS}}}property[@name='{name}']"):
        bean.remove(one)
    _added(bean, "property", name=name, value=value)


def _bean(parent: etree._Element, kind: str, **more: str) -> etree._Element:
    return _added(parent, "bean", **{"class": kind}, **more)


def _added(parent: etree._Element, tag: str, **attributes: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{_BEANS}}}{tag}", attributes)


def _reversed(host: str) -> str:
    """A host as a SURT begins with it, such as ``org,example,``; an IP address as it is."""
    return host if _is_number(host) else "".join(f"{one}," for one in reversed(host.split(".")))


def _is_number(host: str) -> bool:
    return ":" in host or bool(re.fullmatch(r"[\d.]+", host))

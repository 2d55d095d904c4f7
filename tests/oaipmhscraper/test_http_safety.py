"""Which servers are trusted and get credentials, and the options for it; on loopback."""

import logging
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest
import urllib3
from certificates import self_signed
from click.testing import CliRunner

from oaipmhclient.transport import http_transport
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhscraper.commands.http_options import http_options
from politeweb.errors import EndpointUnreachable, RedirectRefused, RequestRefused
from politeweb.settings import HttpSettings, settings_from

OAI = b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><Identify/></OAI-PMH>'
IDENTIFY = {"verb": "Identify"}


@dataclass
class Site:
    """A server and what it was sent: request line and headers."""

    server: ThreadingHTTPServer
    seen: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    moved: str = ""

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    def url(self, host: str = "127.0.0.1", scheme: str = "http", userinfo: str = "") -> str:
        return f"{scheme}://{userinfo}{host}:{self.port}/oai"


def _handler(site: list[Site]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site[0].seen.append((self.requestline, dict(self.headers)))
            self.send_response(302 if site[0].moved else 200)
            if site[0].moved:
                self.send_header("Location", site[0].moved)
            self.send_header("Content-Length", str(len(OAI)))
            self.end_headers()
            self.wfile.write(OAI)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def start(certificate: Path) -> Iterator[Callable[..., Site]]:
    """Start sites, with TLS where asked for."""
    running: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(*, tls: bool = False, host: str = "127.0.0.1") -> Site:
        box: list[Site] = []
        server = ThreadingHTTPServer((host, 0), _handler(box))
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # refused handshakes are what some tests want
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        box.append(Site(server))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        running.append((server, thread))
        return box[0]

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


def fetch(url: str, **settings: object) -> bytes:
    with HttpTransport(url, HttpSettings(attempts=1, **settings)) as sender:
        return sender.fetch(IDENTIFY).body


# --- TLS


def test_a_certificate_nobody_vouches_for_is_refused_at_once(start):
    site = start(tls=True)
    with pytest.raises(EndpointUnreachable, match="TLS failed"):
        fetch(site.url(scheme="https"))
    assert site.seen == []


def test_a_certificate_in_the_ca_file_is_trusted(start, certificate):
    assert fetch(start(tls=True).url(scheme="https"), ca_file=str(certificate)) == OAI


def test_a_trusted_certificate_of_another_host_is_refused(start, certificate):
    with pytest.raises(EndpointUnreachable, match="TLS failed"):
        fetch(start(tls=True).url("localhost", "https"), ca_file=str(certificate))


def test_only_insecure_takes_any_certificate(start):
    with pytest.warns(urllib3.exceptions.InsecureRequestWarning):
        assert fetch(start(tls=True).url(scheme="https"), insecure=True) == OAI


def test_insecure_is_not_overruled_by_a_bundle_in_the_environment(start, monkeypatch, certificate):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with pytest.warns(urllib3.exceptions.InsecureRequestWarning):
        assert fetch(start(tls=True).url("localhost", "https"), insecure=True) == OAI


def test_a_ca_file_that_is_not_there_is_told_before_anything_is_sent():
    with pytest.raises(RequestRefused, match="file /nowhere does not exist"):
        HttpTransport("https://127.0.0.1/", HttpSettings(ca_file="/nowhere"))


# --- secrets


def test_secret_headers_and_credentials_go_to_the_repository_only(start):
    other, site = start(), start()
    site.moved = other.url("localhost")
    settings = {"auth": ("user", "pass"), "secret_headers": (("X-Api-Key", "s3cret"),)}
    fetch(site.url(), **settings)
    told, untold = site.seen[0][1], other.seen[0][1]
    assert (told["X-Api-Key"], told["Authorization"]) == ("s3cret", "Basic dXNlcjpwYXNz")
    assert "X-Api-Key" not in untold
    assert "Authorization" not in untold


def test_credentials_in_the_url_win_over_those_of_the_environment(start):
    site = start()
    fetch(site.url(userinfo="me:mine@"), auth=("user", "pass"))
    assert site.seen[0][1]["Authorization"] == "Basic bWU6bWluZQ=="


def test_netrc_is_asked_where_nothing_else_is_given(start, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password mine\n")
    netrc.chmod(0o600)
    site = start()
    fetch(site.url())
    fetch(site.url(), secret_headers=(("Authorization", "Bearer t0ken"),))
    assert [one[1]["Authorization"] for one in site.seen] == ["Basic bWU6bWluZQ==", "Bearer t0ken"]


def test_no_secret_is_shown_by_the_settings_or_logged(start, caplog):
    caplog.set_level(logging.DEBUG)
    settings = HttpSettings(
        auth=("user", "s3cret"), secret_headers=(("X-Key", "s3cret"),),
        proxy="http://u:s3cret@127.0.0.1:1/", attempts=1,
    )  # fmt: skip
    with (
        HttpTransport("http://u:s3cret@127.0.0.1:1/oai", settings) as sender,
        pytest.raises(EndpointUnreachable, match="the proxy failed") as raised,
    ):
        sender.fetch(IDENTIFY)
    told = repr(settings) + str(raised.value) + repr(raised.value.__dict__) + caplog.text
    assert "s3cret" not in told


@pytest.mark.parametrize(
    "header",
    [("X-Key", ""), ("X-Key", "s3cret\r\nX: y"), ("X Key", "s3cret"), ("Host", "s3cret")],
)
def test_a_header_that_cannot_be_sent_is_refused_without_showing_its_value(header):
    with pytest.raises(RequestRefused) as raised:
        HttpSettings(secret_headers=(header,))
    assert "s3cret" not in str(raised.value)


# --- proxies


def test_a_proxy_is_sent_every_request(start):
    proxy = start()
    assert fetch("http://repo.invalid/oai", proxy=proxy.url()) == OAI
    assert proxy.seen[0][0] == "GET http://repo.invalid/oai?verb=Identify HTTP/1.1"


def test_a_proxy_of_the_environment_is_used_unless_the_host_is_exempt(start, monkeypatch):
    proxy, site = start(), start()
    monkeypatch.setenv("http_proxy", proxy.url())
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    fetch("http://repo.invalid/oai")
    fetch(site.url())
    assert (len(proxy.seen), len(site.seen)) == (1, 1)


@pytest.mark.parametrize("proxy", ["nonsense", "ftp://h/", "http://:80", "http://h:x/"])
def test_a_proxy_that_is_no_url_is_refused(proxy):
    with pytest.raises(RequestRefused, match="proxy"):
        HttpSettings(proxy=proxy)


# --- what a user says


@click.command()
@http_options
@click.pass_context
def shown(context: click.Context, settings: HttpSettings) -> None:
    """Keep what the options made."""
    context.obj.append(settings)


def settings_of(*arguments: str, code: int = 0, **environment: str) -> HttpSettings | str:
    """The settings of a command line, or what it says where it fails."""
    box: list[HttpSettings] = []
    with warnings.catch_warnings():
        result = CliRunner().invoke(shown, arguments, obj=box, env=environment)
    assert result.exit_code == code, result.output
    return box[0] if box else result.output


def test_without_options_the_settings_are_the_defaults():
    assert settings_of() == HttpSettings()


def test_every_option_has_its_place_in_the_settings(tmp_path, certificate):
    headers = tmp_path / "headers"
    headers.write_text("# the key of May\n\nX-Api-Key:  a:b \nAuthorization: Bearer t\n")
    found = settings_of(
        "--contact", "me@x.example", "--user-agent", "ours/1", "--delay", "1.5",
        "--timeout", "30", "--attempts", "2", "--max-response", "1.5G", "--post",
        "--proxy", "http://p:3128", "--header-file", str(headers),
        "--ca-file", str(certificate), "--insecure", SILO_AUTH="me:p%3Aq",
    )  # fmt: skip
    assert found == HttpSettings(
        contact="me@x.example", user_agent="ours/1", delay=1.5, read_timeout=30.0,
        total_timeout=150.0, connect_timeout=20.0, attempts=2, max_response=1610612736,
        post=True, proxy="http://p:3128", ca_file=str(certificate), insecure=True,
        auth=("me", "p:q"),
        secret_headers=(("X-Api-Key", "a:b"), ("Authorization", "Bearer t")),
    )  # fmt: skip
    assert found.headers["User-Agent"] == "ours/1 (+me@x.example)"


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--max-response", "much"], {}, "'much' is not a size"),
        (["--max-response", "0"], {}, "'0' is not a size"),
        (["--attempts", "0"], {}, "--attempts"),
        (["--delay", "-1"], {}, "--delay"),
        (["--timeout", "0"], {}, "--timeout"),
        (["--ca-file", "/nowhere"], {}, "--ca-file"),
        (["--proxy", "nonsense"], {}, "proxy"),
        ([], {"SILO_AUTH": "s3cret"}, "SILO_AUTH must be user:password"),
        (["--contact", "mé"], {}, "contact"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(arguments, environment, words):
    said = settings_of(*arguments, code=2, **environment)
    assert words in said
    assert "s3cret" not in said


def test_a_size_beyond_every_machine_is_as_large_as_can_be():
    assert settings_of("--max-response", "9" * 400 + "G").max_response == 1 << 60


def test_a_header_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RequestRefused, match="is not a readable text file"):
        settings_from({}, header_file=str(path))


def test_insecurity_is_said_by_the_command():
    with warnings.catch_warnings():
        result = CliRunner().invoke(shown, ["--insecure"], obj=[])
    assert result.stderr == "silo: certificates are not checked (--insecure)\n"


# --- redirects to private addresses


@pytest.fixture
def loopback_is_public(monkeypatch):
    """127.0.0.1 stands for a public host, 127.0.0.2 for one inside."""
    monkeypatch.setattr(http_transport, "is_public", lambda address: address == "127.0.0.1")


@pytest.mark.parametrize("post", [False, True])
def test_a_redirect_from_a_public_host_to_a_private_address_is_refused(
    start, loopback_is_public, post
):
    inside, public = start(host="127.0.0.2"), start()
    public.moved = inside.url("127.0.0.2")
    with pytest.raises(RedirectRefused, match="not public; --private-redirects follows it"):
        fetch(public.url(), post=post)
    assert inside.seen == []


def test_a_name_that_leads_to_a_private_address_is_refused_when_connected(
    start, loopback_is_public, monkeypatch
):
    """A name is looked up by the connection itself: what it said before is of no use."""
    inside, public = start(host="127.0.0.2"), start()
    public.moved = inside.url("public.example")
    look_up = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *more, **options: look_up(
            "127.0.0.2" if host == "public.example" else host, *more, **options
        ),
    )
    with pytest.raises(RedirectRefused, match=r"public\.example has an address"):
        fetch(public.url())
    assert inside.seen == []


def test_a_repository_whose_name_leads_to_a_private_address_later_is_not_asked_there(
    start, loopback_is_public, monkeypatch
):
    inside, public = start(host="127.0.0.2"), start()
    leads_to, look_up = ["127.0.0.1"], socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda _host, *more, **options: look_up(leads_to[0], *more, **options),
    )
    transport = HttpTransport(public.url("public.example"), HttpSettings(attempts=1, delay=0))
    with transport:
        assert transport.fetch(IDENTIFY).body == OAI
        leads_to[0] = "127.0.0.2"
        with pytest.raises(EndpointUnreachable, match="and had another before"):
            transport.fetch(IDENTIFY)
    assert inside.seen == []


def test_a_redirect_to_a_private_address_is_followed_where_it_is_allowed(start, loopback_is_public):
    inside, public = start(host="127.0.0.2"), start()
    public.moved = inside.url("127.0.0.2")
    assert fetch(public.url(), private_redirects=True) == OAI


def test_a_redirect_between_private_addresses_is_followed(start):
    inside, outside = start(host="127.0.0.2"), start()
    outside.moved = inside.url("127.0.0.2")
    assert fetch(outside.url()) == OAI

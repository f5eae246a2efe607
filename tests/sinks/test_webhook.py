"""The webhook sink against a real receiver that misbehaves on purpose."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Barrier

import pytest

from penstock import FrozenClock
from penstock.errors import Misconfigured, Throttled, Unavailable
from penstock.ports.sink import Undeliverable
from penstock.sinks import WebhookSink, verify
from tests.forked import forked
from tests.servers import free_port
from tests.sinks import receiver as behaviours
from tests.sinks.outbox import envelope
from tests.sinks.receiver import Behaviour, Receiver, answers

SECRET = "do-not-show-this"
PATIENT = timedelta(seconds=20)
TIMEOUT = timedelta(seconds=1)
"For whoever asks one that never answers."

Opener = Callable[..., WebhookSink]


@pytest.fixture
def open_sink(clock: FrozenClock) -> Iterator[Opener]:
    opened: list[WebhookSink] = []

    def open_one(
        url: str, *, timeout: timedelta = PATIENT, connections: int = 4, ca_bundle: str | None = None
    ) -> WebhookSink:
        sink = WebhookSink(
            url,
            secret=SECRET,
            source="/penstock/test",
            clock=clock,
            timeout=timeout,
            connections=connections,
            ca_bundle=ca_bundle,
        )
        opened.append(sink)
        return sink

    yield open_one
    for sink in opened:
        sink.close()


def test_a_message_arrives_as_a_signed_cloud_event(receiver: Receiver, open_sink: Opener, clock: FrozenClock) -> None:
    assert open_sink(receiver.url).deliver([envelope("e-1", word="café", n=1.5)]) == [None]
    (seen,) = receiver.taken
    assert json.loads(seen.body) == {
        "specversion": "1.0",
        "id": "e-1",
        "source": "/penstock/test",
        "type": "project.edited",
        "subject": "Project(1)",
        "time": "2037-01-01T12:00:00.123456Z",
        "datacontenttype": "application/json",
        "project": "p-1",
        "data": {"word": "café", "n": 1.5},
    }
    assert seen.headers["Content-Type"] == "application/cloudevents+json; charset=utf-8"
    assert seen.headers["Idempotency-Key"] == "e-1"
    assert seen.path == "/hook?token=in-the-url"
    header = seen.headers["Penstock-Signature"]
    assert verify(SECRET, header, seen.body, now=clock.now())
    assert not verify(SECRET, header, seen.body, now=clock.now() + timedelta(minutes=6))


def test_no_messages_need_no_request(receiver: Receiver, open_sink: Opener) -> None:
    assert open_sink(receiver.url).deliver([]) == []
    assert receiver.seen == []


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_2xx_is_success(receiver: Receiver, open_sink: Opener, status: int) -> None:
    receiver.usually = answers(status)
    assert open_sink(receiver.url).deliver([envelope()]) == [None]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_what_may_pass_is_tried_again(receiver: Receiver, open_sink: Opener, status: int) -> None:
    receiver.usually = answers(status, Retry_After="120")
    (outcome,) = open_sink(receiver.url).deliver([envelope()])
    assert isinstance(outcome, Unavailable)
    assert isinstance(outcome, Throttled) == (status == 429)
    assert str(status) in str(outcome)
    assert "retry after 120" in str(outcome)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 410, 413, 422])
def test_what_will_not_change_is_undeliverable(receiver: Receiver, open_sink: Opener, status: int) -> None:
    receiver.usually = answers(status, Location=receiver.url)
    (outcome,) = open_sink(receiver.url).deliver([envelope()])
    assert isinstance(outcome, Undeliverable)
    assert str(status) in str(outcome)
    assert len(receiver.seen) == 1, "a redirect was followed"


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.stays_silent,
        behaviours.drips,
        behaviours.drops,
        behaviours.speaks_no_http,
        behaviours.floods_with_headers,
    ],
)
def test_a_broken_exchange_is_tried_again_and_bounded_in_time(
    receiver: Receiver, open_sink: Opener, behaviour: Behaviour
) -> None:
    receiver.script.append(behaviour)
    sink = open_sink(receiver.url, timeout=TIMEOUT)
    started = time.monotonic()
    (outcome,) = sink.deliver([envelope("e-1")])
    assert time.monotonic() - started < 10 * TIMEOUT.total_seconds()
    assert isinstance(outcome, Unavailable)
    assert sink.deliver([envelope("e-1")]) == [None], "the next attempt suffers from the last one"


@pytest.mark.parametrize(
    "behaviour", [behaviours.floods, behaviours.sends_gzip_nonsense, behaviours.sends_a_negative_chunk]
)
def test_the_status_is_the_answer_whatever_the_body(
    receiver: Receiver, open_sink: Opener, behaviour: Behaviour
) -> None:
    receiver.script.append(behaviour)
    sink = open_sink(receiver.url, timeout=timedelta(seconds=5))
    started = time.monotonic()
    assert sink.deliver([envelope("e-1")]) == [None]
    assert time.monotonic() - started < 4, "the whole body was read"
    assert sink.deliver([envelope("e-2")]) == [None]


def test_nobody_there_is_tried_again(open_sink: Opener) -> None:
    (outcome,) = open_sink(f"http://127.0.0.1:{free_port()}/").deliver([envelope()])
    assert isinstance(outcome, Unavailable)


def test_a_connection_is_reused_until_the_receiver_ends_it(receiver: Receiver, open_sink: Opener) -> None:
    sink = open_sink(receiver.url)
    receiver.script += [behaviours.accepts, answers(500), behaviours.accepts, behaviours.hangs_up_later]
    outcomes = [sink.deliver([envelope(f"e-{n}")])[0] for n in range(4)]
    assert [o is None for o in outcomes] == [True, False, True, True]
    assert len({s.connection for s in receiver.seen}) == 1
    assert receiver.hung_up.wait(10)
    assert sink.deliver([envelope("e-5")]) == [None], "a connection that had ended was used"
    assert len({s.connection for s in receiver.seen}) == 2


def test_a_sink_that_is_closed_gives_its_connection_back_and_may_be_used_again(
    receiver: Receiver, open_sink: Opener
) -> None:
    sink = open_sink(receiver.url)
    assert sink.deliver([envelope("e-1")]) == [None]
    sink.close()
    assert receiver.hung_up.wait(10)
    assert sink.deliver([envelope("e-2")]) == [None]


def test_a_forked_child_opens_its_own_connection(receiver: Receiver, open_sink: Opener) -> None:
    sink = open_sink(receiver.url)
    assert sink.deliver([envelope("parent")]) == [None]
    assert forked(lambda: sink.deliver([envelope("child")]) == [None]) == 0
    assert sink.deliver([envelope("parent-again")]) == [None]
    connections = {s.event["id"]: s.connection for s in receiver.seen}
    assert connections["parent"] == connections["parent-again"] != connections["child"]


def test_several_messages_travel_at_a_time_and_keep_their_outcomes(receiver: Receiver, open_sink: Opener) -> None:
    def by_number(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        handler.answer({0: 200, 1: 500, 2: 404}[seen.event["data"]["n"] % 3])

    receiver.usually = by_number
    sink = open_sink(receiver.url, timeout=timedelta(seconds=10))
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}", n=n) for n in range(30)])
    assert [type(o) for o in outcomes] == [type(None), Unavailable, Undeliverable] * 10
    assert 2 <= len({s.connection for s in receiver.seen}) <= 4


def test_two_messages_do_not_wait_for_each_other(receiver: Receiver, open_sink: Opener) -> None:
    both_are_here = Barrier(2, timeout=10)

    def answers_both_at_once(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        both_are_here.wait()
        handler.answer(200)

    receiver.usually = answers_both_at_once
    assert open_sink(receiver.url).deliver([envelope("e-1"), envelope("e-2", aggregate="b")]) == [None, None]


def test_a_receiver_that_answers_nobody_does_not_hold_up_a_whole_batch(receiver: Receiver, open_sink: Opener) -> None:
    receiver.usually = behaviours.stays_silent
    started = time.monotonic()
    sink = open_sink(receiver.url, timeout=TIMEOUT)
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}") for n in range(100)])
    assert time.monotonic() - started < 10 * TIMEOUT.total_seconds()
    assert all(isinstance(o, Unavailable) for o in outcomes)
    assert len(receiver.seen) < 20


def test_one_message_that_is_never_answered_does_not_hold_back_the_others(
    receiver: Receiver, open_sink: Opener
) -> None:
    def chokes_on_seven(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        (behaviours.stays_silent if seen.event["id"] == "e-7" else behaviours.accepts)(handler, seen)

    receiver.usually = chokes_on_seven
    sink = open_sink(receiver.url, timeout=TIMEOUT)
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}") for n in range(40)])
    assert [n for n, o in enumerate(outcomes) if o is not None] == [7]


def test_a_receiver_that_has_answered_once_is_asked_about_every_message(receiver: Receiver, open_sink: Opener) -> None:
    receiver.script += [behaviours.accepts, behaviours.drops, behaviours.drops, behaviours.drops]
    sink = open_sink(receiver.url, timeout=PATIENT, connections=1)
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}") for n in range(6)])
    assert [n for n, o in enumerate(outcomes) if o is not None] == [1, 2, 3]
    assert len(receiver.seen) == 6


@pytest.mark.parametrize("id", ["", "two\r\nX-Evil: 1", "café", "x" * 300])
def test_an_id_that_is_no_header_is_undeliverable_and_alone_in_it(
    receiver: Receiver, open_sink: Opener, id: str
) -> None:
    refused, fine = open_sink(receiver.url).deliver([envelope(id), envelope("fine", aggregate="b")])
    assert isinstance(refused, Undeliverable)
    assert fine is None
    assert [s.event["id"] for s in receiver.seen] == ["fine"]


def test_what_json_cannot_say_is_undeliverable(receiver: Receiver, open_sink: Opener) -> None:
    refused, fine = open_sink(receiver.url).deliver([envelope("e-1", x=object()), envelope("e-2", aggregate="b")])
    assert isinstance(refused, Undeliverable)
    assert fine is None


def test_no_secret_is_ever_shown(receiver: Receiver, open_sink: Opener, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    sink = open_sink(receiver.url, timeout=TIMEOUT)
    receiver.script += [answers(500), answers(404), answers(301), behaviours.drops, behaviours.stays_silent]
    receiver.usually = behaviours.speaks_no_http
    shown = [sink.deliver([envelope(f"e-{n}")])[0] for n in range(6)]
    shown += open_sink(f"http://127.0.0.1:{free_port()}/?token=in-the-url").deliver([envelope()])
    assert None not in shown
    told = " ".join(f"{o} {o!r} {o.__cause__!r}" for o in shown if o is not None) + repr(sink) + caplog.text
    assert SECRET not in told
    assert "in-the-url" not in told


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hook",
        "ftp://host/",
        "https://",
        "http://host:notaport/",
        "http://[::1/",
        "https://me:hunter2@host/",
        "https://host/a b",
        "https://host/é",
        "https://host/a\r\nX: 1/é",
    ],
)
def test_a_url_that_cannot_work_is_refused_at_once_and_not_repeated(clock: FrozenClock, url: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        WebhookSink(url, secret=SECRET, source="s", clock=clock)
    assert not any(part in str(refused.value) for part in ("notaport", "hunter2", "é", "X: 1"))


def test_a_secret_and_a_source_are_needed(clock: FrozenClock) -> None:
    with pytest.raises(Misconfigured, match="secret"):
        WebhookSink("https://host/", secret="", source="s", clock=clock)
    with pytest.raises(Misconfigured, match="source"):
        WebhookSink("https://host/", secret=SECRET, source="", clock=clock)


def test_over_tls_connections_are_reused_and_strangers_refused(tmp_path: Path, open_sink: Opener) -> None:
    certificate = _certificate(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    with Receiver(tls=server) as receiver:
        seconds = timedelta(seconds=5)
        known = open_sink(receiver.url, timeout=seconds, ca_bundle=str(certificate))
        assert [known.deliver([envelope(f"e-{n}")])[0] for n in range(3)] == [None] * 3
        assert len({s.connection for s in receiver.seen}) < 3
        receiver.script.append(behaviours.drips)
        (slow,) = open_sink(receiver.url, timeout=TIMEOUT, ca_bundle=str(certificate)).deliver([envelope()])
        assert isinstance(slow, Unavailable)
        (stranger,) = open_sink(receiver.url, timeout=seconds).deliver([envelope()])
        assert isinstance(stranger, Unavailable)
        assert "certificate" in str(stranger)
    assert len(receiver.taken) == 3


def _certificate(folder: Path) -> Path:
    """A certificate of 127.0.0.1 and its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "receiver")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "receiver.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path

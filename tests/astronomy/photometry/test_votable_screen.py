"""What no VOTable can make this machine do, in whatever table of it the request stands."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
import threading
import tracemalloc
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import process_time

import pytest

from penstock.astronomy.photometry.votable_scan import VoScan, scanned_votable
from penstock.astronomy.votable_screen import UnsafeVotable, VotableFault, VotableLimits, screen_votable
from tests.astronomy.photometry.made import code, curve

NUMBERS = b"".join(struct.pack(">dd", 2450000.5 + at, 10 + at / 10) for at in range(20))
CURVE = (
    '<TABLE><FIELD name="JD" datatype="double"/><FIELD name="Vmag" datatype="double" unit="mag"/><DATA><BINARY>'
    f'<STREAM encoding="base64">{base64.b64encode(NUMBERS).decode()}</STREAM></BINARY></DATA></TABLE>'
)


def document(before: str = "", after: str = "", table: str = CURVE) -> str:
    inside = f"{before}{table}{after}"
    return f'<?xml version="1.0"?><VOTABLE version="1.3"><RESOURCE>{inside}</RESOURCE></VOTABLE>'


def elsewhere(stream: str, way: str = "BINARY") -> str:
    return f'<TABLE><FIELD name="x" datatype="double"/><DATA><{way}><STREAM {stream}/></{way}></DATA></TABLE>'


@pytest.mark.parametrize("way", ["BINARY", "BINARY2", "FITS"])
@pytest.mark.parametrize("first", [True, False])
def test_no_table_of_a_file_fetches_anything(tmp_path: Path, way: str, first: bool) -> None:
    asked: list[str] = []

    class Noted(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Noted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        other = elsewhere(f'href="http://127.0.0.1:{server.server_address[1]}/secret"', way)
        told = code(tmp_path, document(other) if first else document(after=other))
    finally:
        server.shutdown()
        server.server_close()
    assert (told, asked) == (("QUARANTINED", "UNSUPPORTED_DATA"), [])


def test_no_table_of_a_file_opens_one_of_this_machine(tmp_path: Path) -> None:
    for place in ("file:///etc", "file:///dev/zero", "/dev/zero"):
        assert code(tmp_path, document(elsewhere(f'href="{place}"'))) == ("QUARANTINED", "UNSUPPORTED_DATA")


def test_the_table_that_is_meant_is_read_wherever_it_stands(tmp_path: Path) -> None:
    other = '<TABLE><FIELD name="x" datatype="double"/><DATA><BINARY><STREAM>AAAA</STREAM></BINARY></DATA></TABLE>'
    inner = f"<RESOURCE>{CURVE}</RESOURCE>"
    for text in (document(other), document(table=inner, after=other), document(other, after=other)):
        assert [each.value for each in curve(tmp_path, text).measurements][:2] == [10.0, 10.1]


@pytest.mark.parametrize("fields", ['<FIELD name="V" datatype="double" arraysize="0"/>', ""])
def test_rows_without_bytes_do_not_go_on_for_ever(tmp_path: Path, fields: str) -> None:
    """In a process of its own, whose memory ends: rows without bytes never do."""
    stream = "<DATA><BINARY><STREAM>AAAA</STREAM></BINARY></DATA>"
    path = tmp_path / "endless.vot"
    path.write_text(document(f"<TABLE>{fields}{stream}</TABLE>"))
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (20, 20));"
        "from pathlib import Path; from penstock.astronomy.photometry import judge_photometry;"
        "print(judge_photometry(Path(sys.argv[1])).finding.code)"
    )
    told = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert told.stdout.strip() == "BROKEN_TABLE", told.stderr[-500:]


@pytest.mark.parametrize(
    "table",
    [
        '<TABLE nrows="9000"><FIELD name="x" datatype="double" arraysize="9000"/></TABLE>',
        '<TABLE><FIELD name="x" datatype="double" arraysize="99999999"/></TABLE>',
        '<PARAM name="x" datatype="double" arraysize="99999999" value=""/>',
        '<TABLE><FIELD name="x" datatype="double" arraysize="9000"/></TABLE><TABLE ref="x" nrows="9000"/>',
        '<TABLE nrows="4000"><FIELD name="x" datatype="double" arraysize="4000"/></TABLE>' * 2,
    ],
)
def test_what_tables_say_of_their_size_is_multiplied_before_room_is_made(tmp_path: Path, table: str) -> None:
    tracemalloc.start()
    try:
        assert code(tmp_path, document(table)) == ("TERMINAL_INVALID", "TOO_LARGE")
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    with pytest.raises(UnsafeVotable) as raised:
        screen_votable(document(table).encode())
    assert raised.value.fault is VotableFault.SIZE


def test_bytes_in_binary_that_become_many_cells_are_too_large() -> None:
    many = "".join(f'<FIELD name="c{at}" datatype="unsignedByte"/>' for at in range(400))
    text = document(f"<TABLE>{many}<DATA><BINARY><STREAM>{'A' * 4_100_000}</STREAM></BINARY></DATA></TABLE>")
    with pytest.raises(UnsafeVotable, match="cells in binary"):
        screen_votable(text.encode(), VotableLimits(rows=500_000))


def test_a_column_of_texts_that_vary_costs_what_is_there(tmp_path: Path) -> None:
    texts = "".join(f'<FIELD name="t{at}" datatype="char" arraysize="4000*"/>' for at in range(60))
    screen_votable(document(f"<TABLE>{texts}</TABLE>").encode())


def test_rows_without_cells_cost_nothing_however_many_columns_have_nulls() -> None:
    """Four times the columns, and the time of this process is hardly more: rows that have no cells look at none."""

    def spent(columns: int) -> float:
        nulls = "".join(f'<FIELD name="c{at}" datatype="int"><VALUES null="1"/></FIELD>' for at in range(columns))
        text = document(f"<TABLE>{nulls}<DATA><TABLEDATA>{'<TR/>' * 20_000}</TABLEDATA></DATA></TABLE>").encode()
        began = process_time()
        assert isinstance(scanned_votable(text, most_rows=30_000), VoScan)
        return process_time() - began

    assert min(spent(900) for _ in range(3)) < 3 * min(spent(225) for _ in range(3))

"""The settings file: its values, its mistakes with their lines, and its place after options and environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.cli.arguments import Parser, invocation
from inspector.cli.commands.listen import HANDLER as LISTEN
from inspector.cli.commands.screen import OPEN, add_screen
from inspector.protocol.errors import FaultError
from inspector.settings_file import SETTINGS, load, read_value, store


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_there_are_no_values(tmp_path: Path):
    stored = load(tmp_path / "settings.toml")
    assert (stored.values, stored.keys) == ({}, {})


def test_values_are_read_by_the_option_that_they_set(tmp_path: Path):
    path = written(tmp_path, '[screen]\ntheme = "paper"\n[receiver]\nport = 9000\n[keys]\ncancel = "ctrl+x"\n')
    stored = load(path)
    assert stored.values == {"theme": "paper", "receiver_port": 9000}
    assert stored.keys == {"cancel": "ctrl+x"}


def test_a_byte_order_mark_is_skipped(tmp_path: Path):
    assert load(written(tmp_path, "\ufeff[receiver]\nport = 9000\n")).values == {"receiver_port": 9000}


@pytest.mark.parametrize(
    ("text", "line", "allowed"),
    [
        ("[screen]\n\ntheme = 3\n", 3, "a text in quotes"),
        ("[screen]\nascii = 1\n", 2, "true or false"),
        ("# first\n[receiver]\nport = 70000\n", 3, "a whole number from 0 to 65535"),
        ("[receiver]\nport = true\n", 2, "a whole number from 0 to 65535"),
        ('[receiver]\nhots = "x"\n', 2, "host, port, public-url, certificate, key"),
        ('[connection]\ntransports = ["SOAP"]\n', 2, "a list of JSONRPC, HTTP+JSON, GRPC"),
        ('[connection]\ntimeout = "soon"\n', 2, 'a duration in quotes, as in "30s" or "5m"'),
        ("[connection]\ntrust = [1]\n", 2, "a list of texts"),
        ("[keys]\ncancel = 7\n", 2, 'keys such as "x" or "ctrl+x,f7"'),
        ("[colours]\nred = 1\n", 1, "the tables screen, connection, login, receiver, capture, keys"),
        ('[ "receiver" ]\n"port" = 70000\n', 2, "a whole number from 0 to 65535"),
        ('receiver = { host = "::1", port = -1 }\n', 1, "a whole number from 0 to 65535"),
        ('screen.theme = "paper"\nscreen.ascii = 1\n', 2, "true or false"),
        ('[screen]\ntheme = """\nascii = 1"""\n\nascii = 1\n', 5, "true or false"),
        ("top = 1\n", 1, "the tables screen, connection, login, receiver, capture, keys"),
        ("[screen\n", 1, "TOML (https://toml.io)"),
        ('[screen]\ntheme = "a\n', 2, "TOML (https://toml.io)"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_with_what_is_allowed(
    tmp_path: Path, text: str, line: int, allowed: str
):
    path = written(tmp_path, text)
    with pytest.raises(FaultError) as caught:
        load(path)
    assert caught.value.fault.seen.startswith(f"{path}:{line}: ")
    assert caught.value.fault.hint == f"Allowed: {allowed}."


def test_a_passphrase_in_the_file_is_refused_and_not_repeated(tmp_path: Path):
    path = written(tmp_path, '[connection]\nclient-passphrase = "canary-77"\n')
    with pytest.raises(FaultError) as caught:
        load(path)
    assert caught.value.fault.seen == f"{path}:2: connection.client-passphrase is not valid."
    assert "env:PASSPHRASE" in caught.value.fault.hint
    written(tmp_path, '[connection]\nclient-passphrase = "env:THE_KEY"\n')
    assert load(path).values == {"client_passphrase": "env:THE_KEY"}


def test_a_file_that_is_not_text_is_reported(tmp_path: Path):
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FaultError, match="Not UTF-8 at byte 0"):
        load(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(FaultError, match=r"cannot be read: .*more than 1,048,576 bytes"):
        load(path)


def test_command_line_and_environment_take_precedence_over_the_file(tmp_path: Path):
    path = written(tmp_path, '[screen]\ntheme = "paper"\nascii = true\n[receiver]\nport = 9000\nhost = "0.0.0.0"\n')
    parser = Parser("", "")
    add_screen(parser)
    given = parser.read(["--theme", "nord"], {"A2ACLI_RECEIVER_PORT": "9001"}, lambda: load(path))
    assert (given.theme, given.receiver_port, given.receiver_host, given.ascii) == ("nord", 9001, "0.0.0.0", True)


def test_open_reads_the_settings_of_the_connection_like_the_options(tmp_path: Path):
    path = written(tmp_path, '[connection]\ntimeout = "30s"\ntransports = ["GRPC"]\ntrust = ["https://a.example"]\n')
    parser = Parser("open", "")
    OPEN.add_arguments(parser)
    words = ["session.a2a", "--header", "X-Team: blue", "--a2a-version", "0.3"]
    options = invocation(parser.read(words, {"A2ACLI_BEARER": "t0ken"}, lambda: load(path))).options
    assert options.recording == Path("session.a2a")
    assert (options.bearer, options.headers, options.a2a_version) == ("t0ken", (("X-Team", "blue"),), "0.3")
    assert (options.timeout, options.transports, options.trust) == (30.0, ("GRPC",), ("https://a.example",))


@pytest.mark.parametrize("words", [["--port", "9001"], ["--receiver-port", "9001"], []])
def test_listen_accepts_the_long_names_of_the_receiver_options_too(words: list[str]):
    for variable in ("A2ACLI_PORT", "A2ACLI_RECEIVER_PORT"):
        parser = Parser("listen", "")
        LISTEN.add_arguments(parser)
        given = parser.read([*words, "--receiver-host", "::1"], {} if words else {variable: "9001"})
        assert (given.receiver_port, given.receiver_host) == (9001, "::1")


def test_every_default_is_allowed():
    for setting in SETTINGS:
        text = ", ".join(setting.default) if isinstance(setting.default, list) else str(setting.default)
        assert read_value(setting, text.lower() if setting.kind is bool else text) == setting.default


def test_a_changed_value_keeps_comments_and_other_values(tmp_path: Path):
    path = written(tmp_path, '# mine\n[screen]\ntheme = "paper"  # bright\n\n[receiver]\nport = 9000\n')
    store(path, "receiver", "port", 9001)
    store(path, "keys", "cancel", "ctrl+x")
    store(path, "screen", "theme", None)
    text = path.read_text(encoding="utf-8")
    assert "# mine" in text
    stored = load(path)
    assert (stored.values, stored.keys) == ({"receiver_port": 9001}, {"cancel": "ctrl+x"})


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path):
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(FaultError, match="cannot be changed"):
        store(tmp_path / "settings.toml", "screen", "theme", "paper")

import argparse
from concurrent import futures

import grpc
import pytest
from tessera.adapter.v1 import adapter_pb2, adapter_service_pb2_grpc
from tessera.weights.v1 import weights_pb2, weights_service_pb2_grpc
from tessera_client.adapters import FACTORS
from tessera_client.commands import TOKEN_VARIABLE, add_commands

SERVED = "b" * 64
DIGEST = "d" * 64


class Service(
    adapter_service_pb2_grpc.AdapterServiceServicer, weights_service_pb2_grpc.WeightsServiceServicer
):
    """Takes every adapter, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked = []
        self.tokens = set()

    def _note(self, request, context):
        self.asked.append(request)
        self.tokens.add(dict(context.invocation_metadata()).get("authorization"))

    def Get(self, request, context):
        return weights_pb2.GetResponse(digest=SERVED)

    def Push(self, requests, context):
        header, *parts, end = list(requests)
        self._note(header.header, context)
        assert end.HasField("end")
        self.content = b"".join(part.chunk.data for part in parts)
        version = adapter_pb2.Version(name=header.header.name, digest=DIGEST, rank_max=2)
        return adapter_pb2.PushResponse(version=version)

    def Activate(self, request, context):
        self._note(request, context)
        return adapter_pb2.ActivateResponse(warmed_users=3)

    def Rollback(self, request, context):
        self._note(request, context)
        replaced = adapter_pb2.Version(name=request.name, digest=DIGEST)
        return adapter_pb2.RollbackResponse(replaced=replaced)


@pytest.fixture
def service():
    server = grpc.server(futures.ThreadPoolExecutor(2))
    service = Service()
    adapter_service_pb2_grpc.add_AdapterServiceServicer_to_server(service, server)
    weights_service_pb2_grpc.add_WeightsServiceServicer_to_server(service, server)
    service.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield service
    server.stop(None)


@pytest.fixture
def folder(tmp_path):
    for file in FACTORS:
        (tmp_path / file).write_text(f"content of {file}")
    return tmp_path


def run(*words):
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers(required=True))
    args = parser.parse_args(words)
    return args.run(args)


def test_pushes_for_the_served_weights_and_serves_a_share(service, folder, capsys):
    assert run("push", str(folder), "--address", service.address, "--share", "0.05") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"valid: main {DIGEST}\n  rank 2, ")
    assert printed.endswith("activated for 5% of the users, 3 of them warmed up\n")
    pushed, activated = service.asked
    assert (pushed.name, pushed.base_model) == ("main", SERVED)
    assert service.content == b"".join((folder / file).read_bytes() for file in FACTORS)
    assert (activated.digest, round(activated.share, 3)) == (DIGEST, 0.05)
    assert service.tokens == {None}


def test_takes_the_token_of_a_file_before_that_of_the_variable(service, tmp_path, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "of-variable")
    words = ["roll-back", "--address", service.address]
    assert run(*words) == 0
    assert service.tokens == {"Bearer of-variable"}
    (tmp_path / "token").write_text("of-file\n")
    assert run(*words, "--token-file", str(tmp_path / "token")) == 0
    assert service.tokens == {"Bearer of-variable", "Bearer of-file"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--key", "k"], "--cert, --key: expected both of them, got one"),
        (["--ca", "gone"], "No such file or directory: 'gone'"),
        (["--token-file", "gone"], "No such file or directory: 'gone'"),
        (["--base", ""], "adapter_config.json: expected a file of a version, got nothing"),
    ],
)
def test_says_what_is_wrong_and_sends_nothing(service, folder, capsys, words, reason):
    if words[0] == "--base":
        (folder / FACTORS[0]).unlink()
    assert run("push", str(folder), "--address", service.address, *words) == 1
    assert reason in capsys.readouterr().err
    assert service.asked == []


def test_refuses_a_share_beyond_1(capsys):
    with pytest.raises(SystemExit):
        run("push", "folder", "--share", "2")
    assert "expected a share of 0 to 1, got 2" in capsys.readouterr().err

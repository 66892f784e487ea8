"""`python -m trainer push`: a PEFT folder to a service that runs, and what it says of it."""

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path

import grpc
from tqdm import tqdm

from .errors import InputError
from .wire import connect, metadata, services

FILES = ("adapter_config.json", "adapter_model.safetensors")
CHUNK_BYTES = 1 << 18
CALL_SECONDS = 600


def run(args: argparse.Namespace) -> None:
    """Pushes, prints the verdict of the validation, activates where that is wanted."""
    messages, stubs = services("adapter/v1/adapter")
    folder = Path(args.folder)
    files = [messages.PushedFile(name=name, **_described(folder / name)) for name in FILES]
    header = messages.PushHeader(name=args.name, base_model=args.base, files=files,
                                 remark=args.remark)
    who = metadata(args)
    with connect(args) as channel:
        service = stubs.AdapterServiceStub(channel)
        try:
            parts = _parts(messages, folder, header)
            answer = service.Push(parts, metadata=who, timeout=CALL_SECONDS)
            _tell(answer)
            if args.share > 0:
                wanted = messages.ActivateRequest(name=args.name, digest=answer.version.digest,
                                                  share=args.share)
                done = service.Activate(wanted, metadata=who, timeout=CALL_SECONDS)
                print(f"activated for {args.share:.0%} of the users, "
                      f"{done.warmed_users} of them warmed up")
        except grpc.RpcError as error:
            raise InputError(f"{args.address}: {error.code().name}", "a version that is taken",
                             error.details()) from error


def _tell(answer) -> None:
    version = answer.version
    print(f"{'known' if answer.known else 'valid'}: {version.name} {version.digest}\n"
          f"  rank {version.rank_max}, {version.target_count} matrices, "
          f"{version.replaced_rows} rows replaced, largest norm {version.largest_norm:.3f}")


def _described(path: Path) -> dict[str, object]:
    if not path.is_file():
        raise InputError(str(path), "a file that PEFT saved", "nothing")
    with path.open("rb") as content:
        return {"bytes": path.stat().st_size,
                "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def _parts(messages, folder: Path, header) -> Iterator[object]:
    yield messages.PushRequest(header=header)
    total = sum(file.bytes for file in header.files)
    with tqdm(total=total, desc="push", unit="B", unit_scale=True) as bar:
        for file in header.files:
            with (folder / file.name).open("rb") as content:
                while data := content.read(CHUNK_BYTES):
                    yield messages.PushRequest(chunk=messages.PushChunk(data=data))
                    bar.update(len(data))
    yield messages.PushRequest(end=messages.PushEnd())

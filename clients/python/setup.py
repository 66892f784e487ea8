"""Makes the messages of proto/tessera while the package is built; a source archive carries them.

The same files and the same SOURCE_DATE_EPOCH give the same bytes.
"""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
ARCHIVED = HERE / "proto"
CHECKED_OUT = HERE.parent.parent / "proto"


def protos() -> Path:
    return ARCHIVED if ARCHIVED.is_dir() else CHECKED_OUT


class BuildMessages(build_py):
    def run(self) -> None:
        super().run()
        from grpc_tools import protoc

        root = protos()
        files = sorted(str(path) for path in root.rglob("*.proto"))
        # An editable install imports from this folder, any other one from the built copy.
        out = HERE if self.editable_mode else Path(self.build_lib).resolve()
        words = [f"-I{root}", f"--python_out={out}", f"--pyi_out={out}", f"--grpc_python_out={out}"]
        if not files or protoc.main(["protoc", *words, *files]) != 0:
            raise SystemExit(f"{root}: expected proto files that protoc takes, got {len(files)}")
        (out / "tessera" / "py.typed").touch()


def same_for_all(entry: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    """An entry without what differs from machine to machine."""
    entry.mtime = epoch
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.isdir() else 0o644
    return entry


class ArchiveMessages(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copytree(protos(), Path(base_dir) / "proto", dirs_exist_ok=True)

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, *_, **__) -> str:
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar" or root_dir is not None:
            return super().make_archive(base_name, format, root_dir, base_dir)
        path = f"{base_name}.tar.gz"
        seconds = int(epoch)
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=seconds) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            # tarfile adds what lies in a folder in the order of names.
            archive.add(base_dir, filter=lambda entry: same_for_all(entry, seconds))
        return path


setup(cmdclass={"build_py": BuildMessages, "sdist": ArchiveMessages})

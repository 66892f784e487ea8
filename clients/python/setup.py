"""Makes the messages of proto/tessera while the package is built; a source archive carries them."""

import shutil
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
        out = str(HERE if self.editable_mode else Path(self.build_lib).resolve())
        words = [f"-I{root}", f"--python_out={out}", f"--pyi_out={out}", f"--grpc_python_out={out}"]
        if not files or protoc.main(["protoc", *words, *files]) != 0:
            raise SystemExit(f"{root}: expected proto files that protoc takes, got {len(files)}")


class ArchiveMessages(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copytree(protos(), Path(base_dir) / "proto", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildMessages, "sdist": ArchiveMessages})

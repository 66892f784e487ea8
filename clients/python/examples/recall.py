"""Asks which ads to show a user: python examples/recall.py [ADDRESS] [USER]

ADDRESS is TESSERA_ADDRESS where it is left out, else 127.0.0.1:50051.
"""

import os
import sys

from tessera.recall.v1 import recall_pb2
from tessera_client import Client, TesseraError

POPULAR = ["1", "2", "3"]
failures: list[TesseraError] = []


def popular(error: TesseraError) -> recall_pb2.RecallResponse:
    """A page without an answer in time shows an error."""
    failures.append(error)
    items = [recall_pb2.RecalledItem(item_id=item_id) for item_id in POPULAR]
    return recall_pb2.RecallResponse(items=items, fallback=error.code)


def main(address: str = os.environ.get("TESSERA_ADDRESS") or "127.0.0.1:50051",
         user_id: str = "1") -> None:
    # region recall
    with Client(address, deadline_ms=500) as tessera:
        tessera.serving(deadline_ms=30_000)  # Connects, before a page waits.
        answer = tessera.recall(user_id=user_id, result_count=3, fallback=popular)
        for item in answer.items:
            print(f"{item.item_id}\t{item.score:.3f}\t{item.title}")
    # endregion recall
    for error in failures:
        sys.exit(f"fallback: no answer of {address}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Recalls, scores, behaviours, catalogue changes, vectors and relevance of texts over gRPC."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc
from tessera.behaviour.v1 import behaviour_pb2, behaviour_service_pb2_grpc
from tessera.catalogue.v1 import catalogue_pb2, catalogue_service_pb2_grpc
from tessera.embedding.v1 import embedding_pb2, embedding_service_pb2_grpc
from tessera.ranking.v1 import ranking_pb2, ranking_service_pb2_grpc
from tessera.recall.v1 import recall_pb2, recall_service_pb2_grpc
from tessera.relevance.v1 import relevance_pb2, relevance_service_pb2_grpc
from tessera.score.v1 import score_pb2, score_service_pb2_grpc

from .adapters import Adapters
from .connection import Tls, open_channel, token_source
from .errors import TesseraError, failure_of
from .handshake import examined
from .retries import Retries

#: Milliseconds of a call that names none.
DEADLINE_MS = 500
BYTES_PER_NUMBER = 4

Fallback = Callable[[TesseraError], recall_pb2.RecallResponse]


class Client:
    """One channel to a service; threads may share it. Nothing is connected before the first call.

    Every call has a deadline in milliseconds, repeats included: what the service refuses for now
    (`ENGINE_OVERLOADED` and the like) is asked again when the service says that it may succeed, as
    long as the deadline and the client's budget of repeats allow. Calls raise `TesseraError`.
    """

    def __init__(
        self,
        address: str,
        *,
        tls: Tls | None = None,
        token: str | None = None,
        token_file: str | Path | None = None,
        deadline_ms: float = DEADLINE_MS,
    ) -> None:
        self._token = token_source(token, token_file)
        self._deadline_ms = deadline_ms
        self._address = address
        self._tls = tls
        self._channel = open_channel(address, tls)
        self._retries = Retries()
        self._recaller = recall_service_pb2_grpc.RecallServiceStub(self._channel)
        self._scorer = score_service_pb2_grpc.ScoreServiceStub(self._channel)
        self._ranker = ranking_service_pb2_grpc.RankingServiceStub(self._channel)
        self._behaviours = behaviour_service_pb2_grpc.BehaviourServiceStub(self._channel)
        self._catalogue = catalogue_service_pb2_grpc.CatalogueServiceStub(self._channel)
        self._embedder = embedding_service_pb2_grpc.EmbeddingServiceStub(self._channel)
        self._judge = relevance_service_pb2_grpc.RelevanceServiceStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)
        #: Versions of adapters: push, try on a share of the users, activate, roll back.
        self.adapters = Adapters(self._channel, self._metadata)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()

    def recall(
        self,
        *,
        user_id: str | None = None,
        history: Sequence[str] | None = None,
        deadline_ms: float | None = None,
        fallback: Fallback | None = None,
        **fields: Any,
    ) -> recall_pb2.RecallResponse:
        """Which live items fit a user: one that the service knows, or one with a `history` of item
        IDs, oldest first. `fields` are those of RecallRequest (`result_count`, `eligibility`, ...).
        With a `fallback` a call that fails for now (overload, deadline, no connection) returns what
        that makes of the error; a fault of the request is raised all the same.
        """
        source = _source(user_id, history)
        request = recall_pb2.RecallRequest(**source, **fields)
        try:
            return self._call(self._recaller.Recall, request, deadline_ms)
        except TesseraError as error:
            if fallback is None or not (error.retryable or error.code == "DEADLINE_EXCEEDED"):
                raise
            return fallback(error)

    def recall_batch(
        self,
        recalls: Sequence[recall_pb2.RecallRequest],
        *,
        deadline_ms: float | None = None,
    ) -> list[recall_pb2.RecallResponse | TesseraError]:
        """Many recalls in one call, 256 at most: an answer or an error for each, in their order."""
        request = recall_pb2.RecallBatchRequest(recalls=recalls)
        outcomes = self._call(self._recaller.RecallBatch, request, deadline_ms).outcomes
        return [
            one.answer if one.HasField("answer") else failure_of(one.failure) for one in outcomes
        ]

    def score(
        self,
        item_ids: Iterable[str],
        *,
        user_id: str | None = None,
        history: Sequence[str] | None = None,
        deadline_ms: float | None = None,
        **fields: Any,
    ) -> score_pb2.ScoreResponse:
        """Log-probabilities of items for a user, in the order of `item_ids`."""
        items = [score_pb2.ScoreTarget(item_id=item_id) for item_id in item_ids]
        request = score_pb2.ScoreRequest(**_source(user_id, history), items=items, **fields)
        return self._call(self._scorer.Score, request, deadline_ms)

    def rank(
        self,
        item_ids: Iterable[str],
        *,
        user_id: str | None = None,
        history: Sequence[str] | None = None,
        deadline_ms: float | None = None,
        **fields: Any,
    ) -> ranking_pb2.RankResponse:
        """Items for a user with numbers of their heads, best first. `fields`: of RankRequest."""
        source = _source(user_id, history)
        request = ranking_pb2.RankRequest(**source, item_ids=item_ids, **fields)
        return self._call(self._ranker.Rank, request, deadline_ms)

    def embed(
        self,
        texts: Sequence[str],
        *,
        model: str = "",
        dimensions: int | None = None,
        deadline_ms: float | None = None,
    ) -> list[array[float]]:
        """A vector per text, by a model of `embedding.models`."""
        request = embedding_pb2.EmbedRequest(texts=texts, model=model, dimensions=dimensions)
        answer = self._call(self._embedder.Embed, request, deadline_ms)
        size = BYTES_PER_NUMBER * len(texts) * answer.dimensions
        if len(answer.vectors) != size:
            got = f"expected {size} bytes, got {len(answer.vectors)}"
            raise TesseraError("INTERNAL", f"vectors: {got}")
        numbers = array("f", answer.vectors)
        if sys.byteorder == "big":
            numbers.byteswap()
        width = answer.dimensions
        return [numbers[i * width : (i + 1) * width] for i in range(len(texts))]

    def relevance(
        self,
        query: str,
        texts: Iterable[str],
        *,
        adapter: str = "",
        deadline_ms: float | None = None,
        **fields: Any,
    ) -> relevance_pb2.RelevanceServiceScoreResponse:
        """How well texts fit a query, in their order, by the model with the `adapter` of that name,
        or alone. `fields` are those of the request (`instruction`, `too_long`, ...).
        """
        documents = [relevance_pb2.Document(text=text) for text in texts]
        request = relevance_pb2.RelevanceServiceScoreRequest(
            query=query, documents=documents, adapter=adapter, **fields
        )
        return self._call(self._judge.Score, request, deadline_ms)

    def append(
        self, behaviours: Sequence[behaviour_pb2.Behaviour], *, deadline_ms: float | None = None
    ) -> Sequence[int]:
        """Writes behaviours; an event ID counts once, so a repeat is harmless. Returns the outcome
        of each (`AppendOutcome`)."""
        request = behaviour_pb2.AppendRequest(behaviours=behaviours)
        return self._call(self._behaviours.Append, request, deadline_ms).outcomes

    def history(
        self, user_id: str, *, limit: int | None = None, deadline_ms: float | None = None
    ) -> behaviour_pb2.HistoryResponse:
        """Behaviours and profile of a user, the newest `limit`, oldest first."""
        request = behaviour_pb2.HistoryRequest(user_id=user_id, limit=limit)
        return self._call(self._behaviours.History, request, deadline_ms)

    def put_profile(
        self, user_id: str, profile: dict[str, str], *, deadline_ms: float | None = None
    ) -> None:
        request = behaviour_pb2.PutProfileRequest(user_id=user_id, profile=profile)
        self._call(self._behaviours.PutProfile, request, deadline_ms)

    def erase(self, user_id: str, *, deadline_ms: float | None = None) -> bool:
        """Erases a user everywhere; whether the service knew the user."""
        request = behaviour_pb2.EraseRequest(user_id=user_id)
        return self._call(self._behaviours.Erase, request, deadline_ms).known

    def apply(
        self,
        changes: Sequence[catalogue_pb2.Change],
        *,
        catalogue: str = "",
        deadline_ms: float | None = None,
    ) -> catalogue_pb2.ApplyResponse:
        """Applies changes of the catalogue, all or none. The answer has the sequence number, by
        which `versions.catalogue_sequence` of a recall says whether it knows them, and how many
        items each change by a predicate matched. Never repeated by itself where the outcome is
        not known: a `delta` that is added twice is another one."""
        request = catalogue_pb2.ApplyRequest(changes=changes, catalogue=catalogue)
        return self._call(self._catalogue.Apply, request, deadline_ms)

    def items(
        self, *, catalogue: str = "", deadline_ms: float | None = None
    ) -> list[catalogue_pb2.Item]:
        """Every item of the newest version of a catalogue, paused ones too."""
        request = catalogue_pb2.ListItemsRequest(catalogue=catalogue)

        def read(request: Any, **how: Any) -> list[catalogue_pb2.Item]:
            return [item for part in self._catalogue.ListItems(request, **how)
                    for item in part.items]

        return self._call(read, request, deadline_ms)

    def serving(self, *, deadline_ms: float | None = None) -> bool:
        """True if the service is there and ready (grpc.health.v1)."""
        request = health_pb2.HealthCheckRequest()
        serving = health_pb2.HealthCheckResponse.SERVING
        try:
            return self._call(self._health.Check, request, deadline_ms).status == serving
        except TesseraError:
            return False

    def _metadata(self) -> list[tuple[str, str]]:
        token = self._token()
        return [("authorization", f"Bearer {token}")] if token else []

    def _call(self, method: Callable[..., Any], request: Any, deadline_ms: float | None) -> Any:
        def attempt(left_seconds: float) -> Any:
            return method(request, timeout=left_seconds, metadata=self._metadata())

        deadline = self._deadline_ms if deadline_ms is None else deadline_ms
        return self._retries.within(deadline, attempt, self._examine)

    def _examine(self, error: TesseraError, left_seconds: float) -> TesseraError:
        if self._tls is None:
            return error
        return examined(error, self._address, self._tls, left_seconds)


def _source(user_id: str | None, history: Sequence[str] | None) -> dict[str, Any]:
    if (user_id is None) == (history is None):
        raise ValueError("user_id, history: expected one of them, got both or none")
    if history is None:
        return {"user_id": user_id}
    return {"history": recall_pb2.History(item_ids=history)}


__all__ = ["DEADLINE_MS", "Client", "Fallback"]

"""Adapters by way of an S3 store: put there, and announced on a topic (`pip install
tessera-client[s3]`). Credentials are found as boto3 finds them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tessera.adapter.events.v1 import adapter_event_pb2

from .adapters import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

TOPIC = "adapter.announcements"
DELIVERY_SECONDS = 30.0


def announce(
    folder: str | Path,
    name: str,
    *,
    bucket: str,
    prefix: str,
    base_model: str,
    kafka: Mapping[str, Any],
    share: float = 0.0,
    topic: str = TOPIC,
    endpoint: str | None = None,
) -> str:
    """Puts the folder of a version under `s3://bucket/prefix/` and announces it. `kafka`: what
    confluent_kafka.Producer takes (`bootstrap.servers`, ...). `share`: of the users to serve with
    it once it is valid, 0: none. Returns the location. Raises botocore's ClientError where the
    store refuses, RuntimeError where no broker takes the announcement; the outcome is on
    `adapter.events` and in `Adapters.list`.
    """
    import boto3
    from confluent_kafka import Producer

    store = boto3.client("s3", endpoint_url=endpoint)
    location = f"s3://{bucket}/{prefix.strip('/')}/"
    digests = {}
    for file in files_of(Path(folder)):
        content = (Path(folder) / file).read_bytes()
        digests[file] = hashlib.sha256(content).hexdigest()
        store.put_object(Bucket=bucket, Key=f"{prefix.strip('/')}/{file}", Body=content)
    message = adapter_event_pb2.AdapterAnnounced(
        name=name, base_model=base_model, location=location, share=share, sha256=digests
    )
    outcomes: list[object | None] = [f"no broker answered in {DELIVERY_SECONDS:.0f} s"]
    producer = Producer({**kafka, "acks": "all"})
    producer.produce(
        topic,
        key=name,
        value=message.SerializeToString(),
        headers={"tessera-version": "1"},
        on_delivery=lambda fault, _: outcomes.append(fault),
    )
    producer.flush(DELIVERY_SECONDS)
    fault = outcomes[-1]
    # Not by `==`: a KafkaError that is compared with None leaves an exception behind.
    if fault is not None:
        reason = str(fault)
        raise RuntimeError(f"{topic}: expected a broker that takes the announcement, got {reason}")
    return location

"""Against a service that takes announcements: TESSERA_KAFKA names its broker, TESSERA_S3_ENDPOINT
and TESSERA_S3_BUCKET its store."""

import os
from pathlib import Path

import pytest
from tessera.adapter.events.v1 import adapter_event_pb2
from tessera.adapter.v1 import adapter_pb2
from tessera_client import Client
from tessera_client.adapters import FACTORS

BROKER = os.getenv("TESSERA_KAFKA", "")
pytestmark = pytest.mark.skipif(BROKER == "", reason="TESSERA_KAFKA names no broker")
EVENTS_TOPIC = "adapter.events"
EVENT_SECONDS = 60


@pytest.fixture(scope="module")
def folder():
    return Path(os.environ["TESSERA_ADAPTER"])


@pytest.fixture(scope="module")
def place():
    return {
        "bucket": os.environ["TESSERA_S3_BUCKET"],
        "endpoint": os.environ["TESSERA_S3_ENDPOINT"],
    }


@pytest.fixture(scope="module")
def base_model():
    with Client(os.environ["TESSERA_ADDRESS"]) as client:
        return client.adapters.base_model()


def event_of(name):
    """The first event about an adapter of this name."""
    from confluent_kafka import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": BROKER,
            "group.id": "test-of-python",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([EVENTS_TOPIC])
    try:
        while message := consumer.poll(EVENT_SECONDS):
            assert message.error() is None
            event = adapter_event_pb2.AdapterEvent.FromString(message.value())
            if event.name == name:
                return event
    finally:
        consumer.close()
    raise AssertionError(f"{EVENTS_TOPIC}: expected an event about {name}, got none")


def test_puts_a_folder_there_and_announces_it(folder, place, base_model):
    import boto3
    from tessera_client.s3 import announce

    location = announce(
        folder,
        "stored",
        prefix="/of/python/",
        base_model=base_model,
        kafka={"bootstrap.servers": BROKER},
        **place,
    )
    assert location == f"s3://{place['bucket']}/of/python/"
    store = boto3.client("s3", endpoint_url=place["endpoint"])
    for file in FACTORS:
        kept = store.get_object(Bucket=place["bucket"], Key=f"of/python/{file}")["Body"].read()
        assert kept == (folder / file).read_bytes()
    event = event_of("stored")
    assert (event.action, event.outcome) == ("push", "OK")
    with Client(os.environ["TESSERA_ADDRESS"]) as client:
        version = client.adapters.get("stored", event.digest).version
    assert version.state == adapter_pb2.STATE_VALIDATED


def test_announces_nothing_where_the_store_refuses(folder, place, base_model):
    from botocore.exceptions import ClientError
    from tessera_client.s3 import announce

    elsewhere = {**place, "bucket": "nobodys"}
    kafka = {"bootstrap.servers": "127.0.0.1:1"}
    with pytest.raises(ClientError, match="NoSuchBucket"):
        announce(folder, "x", prefix="p", base_model=base_model, kafka=kafka, **elsewhere)


def test_says_that_no_broker_takes_the_announcement(folder, place, base_model):
    from tessera_client.s3 import announce

    kafka = {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 100}
    with pytest.raises(RuntimeError, match="adapter.announcements: expected a broker"):
        announce(folder, "x", prefix="p", base_model=base_model, kafka=kafka, **place)

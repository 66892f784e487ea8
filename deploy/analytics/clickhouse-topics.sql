-- Readers of the topics (docs/integrate/streams.md) into the tables of clickhouse.sql. Copy the files of
-- proto/ to format_schemas of the server, and name the brokers. A user's pseudonym here is a hash with a
-- secret of yours, so an erasure is `ALTER TABLE ... DELETE WHERE user_hash = ...` on both tables.

CREATE TABLE IF NOT EXISTS recall_topic
(
    time_ms Int64,
    edge String,
    request Tuple(request_id String, user_id String, scene Map(String, String), catalogue String),
    response Tuple(
        request_id String,
        items Nested(
            item_id String, score Float64, value Tuple(value Float64, terms Map(String, Float64)),
            explored UInt8, propensity Nullable(Float64),
            ranking Tuple(
                heads Map(String, Float64), value Tuple(value Float64), recall_rank UInt32)),
        valuation Tuple(name String),
        exploration Tuple(
            slots UInt32, temperature Float64, seed UInt64, no_propensities String),
        ranking Tuple(
            adapter String, adapter_name String, items UInt32, left_out UInt32,
            valuation Tuple(name String)),
        short UInt8,
        widths_used Array(UInt32),
        versions Tuple(
            model String, prompt_template String, catalogue_sequence UInt64, adapter String,
            adapter_name String, node String),
        timings Tuple(
            features_us Float64, prompt_us Float64, queue_us Float64, prefill_us Float64,
            decode_us Float64, total_us Float64),
        kv Tuple(
            tokens_by_tier Map(String, UInt32), shared_tokens UInt32, computed_tokens UInt32)),
    refusal Tuple(code String),
    arm String,
    predicate_id String
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'recall.audits',
    kafka_group_name = 'clickhouse',
    kafka_format = 'ProtobufSingle',
    kafka_schema = 'tessera/recall/events/v1/recall_event.proto:RecallAudited';

CREATE MATERIALIZED VIEW IF NOT EXISTS recall_reader TO recall_fact AS
SELECT
    fromUnixTimestamp64Milli(time_ms, 'UTC') AS time,
    concat(leftPad(toString(time_ms), 16, '0'), '-', toString(generateUUIDv4())) AS recall_id,
    if(response.request_id = '', request.request_id, response.request_id) AS request_id,
    if(request.user_id = '', 0, sipHash64('your secret', request.user_id)) AS user_hash,
    response.versions.node AS node,
    edge,
    request.scene AS scene,
    request.catalogue AS catalogue,
    response.versions.model AS model,
    response.versions.adapter AS adapter,
    response.versions.adapter_name AS adapter_name,
    arm,
    toInt64(response.versions.catalogue_sequence) AS catalogue_seq,
    response.versions.prompt_template AS template,
    predicate_id,
    response.widths_used AS widths,
    if(refusal.code = '', 'OK', refusal.code) AS code,
    response.short AS short,
    toUInt32(round(response.timings.features_us)) AS features_us,
    toUInt32(round(response.timings.prompt_us)) AS prompt_us,
    toUInt32(round(response.timings.queue_us)) AS queue_us,
    toUInt32(round(response.timings.prefill_us)) AS prefill_us,
    toUInt32(round(response.timings.decode_us)) AS decode_us,
    toUInt32(round(response.timings.total_us)) AS total_us,
    response.kv.tokens_by_tier['device'] AS kv_device,
    response.kv.tokens_by_tier['host'] AS kv_host,
    response.kv.tokens_by_tier['disk'] AS kv_disk,
    response.kv.shared_tokens AS kv_shared,
    response.kv.computed_tokens AS kv_computed,
    response.items.item_id AS item_ids,
    arrayMap(score -> toFloat32(round(score * 256) / 256), response.items.score) AS scores,
    response.valuation.name AS valuation,
    if(valuation = '', [], response.items.value.value) AS item_values,
    if(valuation = '', [], response.items.value.terms) AS item_terms,
    response.exploration.slots AS explore_slots,
    response.exploration.temperature AS explore_temperature,
    response.exploration.seed AS explore_seed,
    if(explore_slots = 0, [], response.items.explored) AS explored,
    if(explore_slots = 0 OR has(response.items.propensity, NULL), [],
        arrayMap(one -> assumeNotNull(one), response.items.propensity)) AS propensities,
    response.exploration.no_propensities AS no_propensities,
    response.ranking.adapter AS rank_adapter,
    response.ranking.adapter_name AS rank_adapter_name,
    response.ranking.valuation.name AS rank_valuation,
    response.ranking.items AS ranked_items,
    response.ranking.left_out AS rank_left_out,
    if(rank_adapter = '', [], response.items.ranking.heads) AS item_heads,
    if(rank_valuation = '', [], response.items.ranking.value.value) AS rank_values,
    if(rank_adapter = '', [], response.items.ranking.recall_rank) AS recall_ranks
FROM recall_topic;

CREATE TABLE IF NOT EXISTS behaviour_topic
(
    behaviour Tuple(
        user_id String, item_id String, action String, time_ms Int64, scene Map(String, String),
        request_id String, position UInt32)
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'behaviours',
    kafka_group_name = 'clickhouse',
    kafka_format = 'ProtobufSingle',
    kafka_schema = 'tessera/behaviour/events/v1/behaviour_event.proto:BehaviourEvent';

CREATE MATERIALIZED VIEW IF NOT EXISTS behaviour_reader TO behaviour AS
SELECT
    fromUnixTimestamp64Milli(behaviour.time_ms, 'UTC') AS time,
    sipHash64('your secret', behaviour.user_id) AS user_hash,
    behaviour.item_id AS item_id,
    behaviour.action AS action,
    behaviour.scene AS scene,
    behaviour.request_id AS request_id,
    behaviour.position AS position
FROM behaviour_topic;

-- Upserts alone name what they bring; sequences are in the files of the nodes.
CREATE TABLE IF NOT EXISTS change_topic
(
    changes Nested(upsert Tuple(item_id String)),
    catalogue String
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'catalogue.changes',
    kafka_group_name = 'clickhouse',
    kafka_format = 'ProtobufSingle',
    kafka_schema = 'tessera/catalogue/events/v1/catalogue_event.proto:CatalogueChanged';

CREATE MATERIALIZED VIEW IF NOT EXISTS change_reader TO change AS
SELECT
    _timestamp_ms AS time, catalogue, 0 AS seq, 'kafka' AS source,
    if(item.item_id = '', 'other', 'upsert') AS op, item.item_id AS item_id
FROM change_topic
ARRAY JOIN changes.upsert AS item;

-- Tables of facts in ClickHouse, by the names of docs/operate/analysis.md. Statements end with ';'.
-- The service reads them with `npm run report -- --store clickhouse`.

CREATE TABLE IF NOT EXISTS recall_fact
(
    time DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    recall_id String,
    request_id String,
    user_hash UInt64,
    node LowCardinality(String),
    edge LowCardinality(String),
    scene Map(String, String),
    catalogue LowCardinality(String),
    model LowCardinality(String),
    adapter LowCardinality(String),
    adapter_name LowCardinality(String),
    arm LowCardinality(String),
    catalogue_seq Int64,
    template LowCardinality(String),
    predicate_id LowCardinality(String),
    widths Array(UInt32),
    code LowCardinality(String),
    short UInt8,
    features_us UInt32,
    prompt_us UInt32,
    queue_us UInt32,
    prefill_us UInt32,
    decode_us UInt32,
    total_us UInt32,
    kv_device UInt32,
    kv_host UInt32,
    kv_disk UInt32,
    kv_shared UInt32,
    kv_computed UInt32,
    item_ids Array(String),
    scores Array(Float32)
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (toStartOfHour(time), user_hash, time)
TTL toDateTime(time) + INTERVAL 90 DAY
COMMENT 'every recall, answered or refused';

-- Tables of an earlier release lack these.
ALTER TABLE recall_fact
    ADD COLUMN IF NOT EXISTS valuation LowCardinality(String),
    ADD COLUMN IF NOT EXISTS item_values Array(Float32),
    ADD COLUMN IF NOT EXISTS item_terms Array(Map(String, Float32)),
    ADD COLUMN IF NOT EXISTS explore_slots UInt32,
    ADD COLUMN IF NOT EXISTS explore_temperature Float32,
    ADD COLUMN IF NOT EXISTS explore_seed UInt64,
    ADD COLUMN IF NOT EXISTS explored Array(UInt8),
    ADD COLUMN IF NOT EXISTS propensities Array(Float32),
    ADD COLUMN IF NOT EXISTS no_propensities LowCardinality(String),
    ADD COLUMN IF NOT EXISTS rank_adapter LowCardinality(String),
    ADD COLUMN IF NOT EXISTS rank_adapter_name LowCardinality(String),
    ADD COLUMN IF NOT EXISTS rank_valuation LowCardinality(String),
    ADD COLUMN IF NOT EXISTS ranked_items UInt32,
    ADD COLUMN IF NOT EXISTS rank_left_out UInt32,
    ADD COLUMN IF NOT EXISTS item_heads Array(Map(String, Float32)),
    ADD COLUMN IF NOT EXISTS rank_values Array(Float32),
    ADD COLUMN IF NOT EXISTS recall_ranks Array(UInt32),
    ADD COLUMN IF NOT EXISTS critical_bids Array(Nullable(Float32)),
    ADD COLUMN IF NOT EXISTS unpriced LowCardinality(String),
    ADD COLUMN IF NOT EXISTS runner_up String,
    ADD COLUMN IF NOT EXISTS runner_up_value Nullable(Float32),
    ADD COLUMN IF NOT EXISTS runner_up_bid Nullable(Float32);

CREATE TABLE IF NOT EXISTS behaviour
(
    time DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    user_hash UInt64,
    item_id String,
    action LowCardinality(String),
    scene Map(String, String),
    request_id String,
    position UInt32
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (toStartOfHour(time), user_hash, time)
TTL toDateTime(time) + INTERVAL 90 DAY
COMMENT 'what users did';

CREATE TABLE IF NOT EXISTS change
(
    time DateTime64(3, 'UTC'),
    catalogue LowCardinality(String),
    seq Int64,
    source LowCardinality(String),
    op LowCardinality(String),
    item_id String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (time, item_id)
TTL toDateTime(time) + INTERVAL 400 DAY
COMMENT 'every change of a catalogue';

ALTER TABLE change
    ADD COLUMN IF NOT EXISTS attribute LowCardinality(String),
    ADD COLUMN IF NOT EXISTS value String,
    ADD COLUMN IF NOT EXISTS pace Nullable(Float64);


-- Sequences are those of the serving nodes, which no topic carries: loaded from the file of a node, e.g.
-- INSERT INTO item_version SELECT * FROM s3('.../facts/item_version/all.parquet');
CREATE TABLE IF NOT EXISTS item_version
(
    catalogue LowCardinality(String),
    item_id String,
    from_seq Int64,
    to_seq Int64,
    from_time DateTime64(3, 'UTC'),
    to_time DateTime64(3, 'UTC'),
    live UInt8,
    sid String,
    title String,
    attributes String
)
ENGINE = ReplacingMergeTree
ORDER BY (catalogue, item_id, from_seq)
COMMENT 'items between two changes';

CREATE TABLE IF NOT EXISTS predicate
(
    time DateTime64(3, 'UTC'),
    catalogue LowCardinality(String),
    predicate_id LowCardinality(String),
    catalogue_seq Int64,
    text String,
    eligible UInt32,
    item_ids Array(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (catalogue, predicate_id, time)
TTL toDateTime(time) + INTERVAL 90 DAY
COMMENT 'eligibilities by hour, loaded from the files of the nodes';

CREATE TABLE IF NOT EXISTS version
(
    time DateTime64(3, 'UTC'),
    kind LowCardinality(String),
    digest String,
    name String,
    state LowCardinality(String),
    parent String
)
ENGINE = ReplacingMergeTree
ORDER BY (kind, digest, time)
COMMENT 'versions that served, loaded from the files of the nodes';

CREATE TABLE IF NOT EXISTS item_hour
(
    hour DateTime64(3, 'UTC'),
    catalogue LowCardinality(String),
    scene SimpleAggregateFunction(any, Map(String, String)),
    scene_text String,
    adapter LowCardinality(String),
    model LowCardinality(String),
    edge LowCardinality(String),
    item_id String,
    version_seq Int64,
    recalls SimpleAggregateFunction(sum, UInt64),
    rank_sum SimpleAggregateFunction(sum, UInt64),
    users AggregateFunction(uniqCombined, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toDate(hour)
ORDER BY (catalogue, hour, adapter, model, edge, item_id, version_seq, scene_text)
TTL toDateTime(hour) + INTERVAL 400 DAY
COMMENT 'items by hour: what dashboards read';

-- Load item_version before recalls: an item of an unknown version has version_seq -1.
CREATE MATERIALIZED VIEW IF NOT EXISTS item_hour_of_recalls TO item_hour AS
SELECT
    hour, catalogue, scene, toString(scene) AS scene_text, adapter, model, edge, item_id,
    version_seq, count() AS recalls, sum(place) AS rank_sum,
    uniqCombinedStateIf(user_hash, user_hash != 0) AS users
FROM
(
    SELECT
        any(s.hour) AS hour, any(s.catalogue) AS catalogue, any(s.scene) AS scene,
        any(s.adapter) AS adapter, any(s.model) AS model, any(s.edge) AS edge,
        s.item AS item_id, any(s.place) AS place, any(s.user_hash) AS user_hash,
        max(if(v.from_seq <= s.catalogue_seq AND s.catalogue_seq < v.to_seq, v.from_seq, -1))
            AS version_seq
    FROM
    (
        SELECT
            toDateTime64(toStartOfHour(time), 3, 'UTC') AS hour, catalogue, scene, adapter, model,
            edge, recall_id, user_hash, catalogue_seq, item, place
        FROM recall_fact
        ARRAY JOIN item_ids AS item, arrayEnumerate(item_ids) AS place
        WHERE code = 'OK'
    ) AS s
    LEFT JOIN item_version AS v ON v.catalogue = s.catalogue AND v.item_id = s.item
    GROUP BY s.recall_id, s.item
)
GROUP BY hour, catalogue, scene, scene_text, adapter, model, edge, item_id, version_seq;

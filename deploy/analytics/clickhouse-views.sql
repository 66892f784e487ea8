-- Views over the tables of clickhouse.sql, by the definitions of docs/operate/analysis.md. The dashboards
-- of superset/ and of deploy/grafana read them. Statements end with ';'.

CREATE OR REPLACE VIEW recalled_item
COMMENT 'an item of an answer, with its version' AS
SELECT
    r.time AS time, r.recall_id AS recall_id, r.request_id AS request_id, r.user_hash AS user_hash,
    r.node AS node, r.edge AS edge, r.catalogue AS catalogue, r.model AS model,
    r.adapter AS adapter, r.adapter_name AS adapter_name, r.arm AS arm, r.item_id AS item_id,
    r.rank AS rank, r.propensities[r.rank] AS propensity, r.rank_adapter AS rank_adapter,
    r.item_heads[r.rank] AS heads, r.recall_ranks[r.rank] AS recall_rank,
    v.title AS title, v.attributes AS attributes,
    JSONExtractString(v.attributes, 'advertiser') AS advertiser,
    JSONExtractString(v.attributes, 'campaign') AS campaign,
    JSONExtractString(v.attributes, 'category') AS category
FROM
(
    SELECT * EXCEPT (item_ids, scores), item AS item_id, place AS rank
    FROM recall_fact
    ARRAY JOIN item_ids AS item, arrayEnumerate(item_ids) AS place
    WHERE code = 'OK'
) AS r
ASOF LEFT JOIN item_version AS v
    ON v.catalogue = r.catalogue AND v.item_id = r.item_id AND r.catalogue_seq >= v.from_seq;

-- The window and the lists of actions are those of `inspection.outcomes` and `behaviours.clickActions`:
-- change them here if you set them there.
CREATE OR REPLACE VIEW outcome
COMMENT 'an item of an answer, with what users did' AS
WITH
    done AS
    (
        SELECT
            time, user_hash, item_id, request_id, position,
            action = 'impression' AS impression,
            action IN ('', 'click') AS click,
            action IN ('purchase', 'order') AS conversion
        FROM behaviour
        WHERE action IN ('impression', '', 'click', 'purchase', 'order')
    ),
    recalled AS
    (
        SELECT time, recall_id, request_id, user_hash, item AS item_id, place AS rank
        FROM recall_fact
        ARRAY JOIN item_ids AS item, arrayEnumerate(item_ids) AS place
        WHERE code = 'OK'
    ),
    belonging AS
    (
        SELECT
            r.recall_id AS recall_id, b.item_id AS item_id,
            if(b.position > 0, b.position, r.rank) AS position,
            b.impression AS impression, b.click AS click, b.conversion AS conversion
        FROM (SELECT * FROM done WHERE request_id != '') AS b
        ASOF JOIN (SELECT * FROM recalled WHERE request_id != '') AS r
            ON r.request_id = b.request_id AND r.item_id = b.item_id AND b.time >= r.time
        UNION ALL
        SELECT
            r.recall_id AS recall_id, b.item_id AS item_id,
            if(b.position > 0, b.position, r.rank) AS position,
            b.impression AS impression, b.click AS click, b.conversion AS conversion
        FROM (SELECT * FROM done WHERE request_id = '' AND user_hash != 0) AS b
        ASOF JOIN recalled AS r
            ON r.user_hash = b.user_hash AND r.item_id = b.item_id AND b.time >= r.time
        WHERE r.time > b.time - INTERVAL 30 MINUTE
    )
SELECT
    i.time AS time, i.recall_id AS recall_id, i.node AS node, i.edge AS edge,
    i.catalogue AS catalogue, i.model AS model, i.adapter AS adapter,
    i.adapter_name AS adapter_name, i.arm AS arm, i.item_id AS item_id,
    i.propensity AS propensity, i.rank_adapter AS rank_adapter, i.heads AS heads,
    i.recall_rank AS recall_rank, i.advertiser AS advertiser, i.category AS category,
    if(o.position > 0, o.position, i.rank) AS position,
    o.impression AS impression, o.click AS click, o.conversion AS conversion,
    greatest(o.impression, o.click, o.conversion) AS shown
FROM recalled_item AS i
LEFT JOIN
(
    SELECT
        recall_id, item_id, max(position) AS position, max(impression) AS impression,
        max(click) AS click, max(conversion) AS conversion
    FROM belonging
    GROUP BY recall_id, item_id
) AS o ON o.recall_id = i.recall_id AND o.item_id = i.item_id;

-- Live items are those at the end of the day; exposures are answers that were served.
CREATE OR REPLACE VIEW coverage_day
COMMENT 'coverage of the live items and the Gini coefficient, by day' AS
WITH
    exposed AS
    (
        SELECT toStartOfDay(hour) AS day, catalogue, item_id, sum(recalls) AS exposures
        FROM item_hour
        WHERE edge != 'console'
        GROUP BY day, catalogue, item_id
    ),
    live AS
    (
        SELECT DISTINCT d.day AS day, d.catalogue AS catalogue, v.item_id AS item_id
        FROM (SELECT DISTINCT day, catalogue FROM exposed) AS d
        INNER JOIN item_version AS v ON v.catalogue = d.catalogue
        WHERE v.live AND v.from_time <= d.day + INTERVAL 1 DAY
            AND v.to_time > d.day + INTERVAL 1 DAY
    )
SELECT
    day AS time, catalogue, count() AS live_items, countIf(exposures > 0) AS covered_items,
    countIf(exposures > 0) / count() AS coverage,
    if(sum(exposures) = 0, 0,
        2 * sum(exposures * place) / (count() * sum(exposures)) - (count() + 1) / count()) AS gini
FROM
(
    SELECT
        l.day AS day, l.catalogue AS catalogue, e.exposures AS exposures,
        row_number() OVER (PARTITION BY l.day, l.catalogue ORDER BY e.exposures) AS place
    FROM live AS l
    LEFT JOIN exposed AS e
        ON e.day = l.day AND e.catalogue = l.catalogue AND e.item_id = l.item_id
)
GROUP BY time, catalogue;

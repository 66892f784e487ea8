import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { ad, composition, DuckdbStore, items, overview, reach, unreached, versions } from "../../../libs/insight/analysis/src/index.js";
import { mergedForm, READ_TABLES, rollupQuery } from "../../../libs/insight/facts/src/index.js";
import { quantile } from "../../result.js";
const HOUR_MS = 3_600_000;
const HOURS = 48;
const BEGIN_MS = Date.UTC(2026, 10, 24);
const ITEMS = 20_000;
const ITEMS_PER_RECALL = 50;
const USERS = 400_000;
/** One recall in so many is clicked; each has one item that was seen. */ const CLICKED = 20;
const TIMES = 5;
/** As the pages ask. */ const BUCKETS = 48;
const ROWS = 200;
/** A recall of 50 items for each number of a range, in columns of `recall_fact`. */ function recallsOf(hour, count) {
    const at = BEGIN_MS + hour * HOUR_MS;
    const item = (x)=>`(${ITEMS} * pow((hash(r * 50 + ${x}) % 1000003) / 1000003.0, 3))`;
    return `SELECT make_timestamp_ms(${at} + (r * ${HOUR_MS} // ${count})) AS time, ` + `'${String(hour).padStart(2, '0')}' || lpad(r::VARCHAR, 9, '0') AS recall_id, ` + `'q${hour}-' || r AS request_id, hash(1 + hash(r) % ${USERS}) AS user_hash, 'n' AS node, ` + "'grpc' AS edge, map {'daypart': ['morning', 'noon', 'night'][1 + r % 3]} AS scene, " + "'' AS catalogue, 'm' AS model, ['', 'aaa', 'bbb'][1 + r % 3] AS adapter, " + "'' AS adapter_name, " + "'active' AS arm, 5::BIGINT AS catalogue_seq, 't' AS template, '' AS predicate_id, " + "[64]::UINTEGER[] AS widths, 'OK' AS code, false AS short, " + [
        ...[
            'features',
            'prompt',
            'queue',
            'prefill',
            'decode',
            'total'
        ]
    ].map((stage)=>`1::UINTEGER AS ${stage}_us`).join(', ') + ', ' + [
        'device',
        'host',
        'disk',
        'shared',
        'computed'
    ].map((tier)=>`1::UINTEGER AS kv_${tier}`).join(', ') + `, list_transform(range(${ITEMS_PER_RECALL}), lambda x: 'ad-' || ${item('x')}::INTEGER) ` + `AS item_ids, list_transform(range(${ITEMS_PER_RECALL}), lambda x: (-x / 8.0)::FLOAT) ` + `AS scores FROM range(${count}) AS t(r)`;
}
/** One impression of each recall, and a click of some, from a range of recalls of `recall_fact`. */ const behavioursOf = (recalls)=>'SELECT time + INTERVAL 2 SECOND AS time, user_hash, item_ids[place] AS item_id, action, ' + 'map {} ::MAP(VARCHAR, VARCHAR) AS scene, request_id, place::UINTEGER AS position FROM ' + `(SELECT *, (1 + hash(recall_id) % 5)::BIGINT AS place FROM ${recalls}), ` + `(VALUES ('impression', 1), ('click', ${CLICKED})) AS kind(action, every) ` + 'WHERE hash(recall_id) % every = 0';
async function writeDays(folder, recalls) {
    for (const { name } of READ_TABLES)mkdirSync(join(folder, name), {
        recursive: true
    });
    const instance = await DuckDBInstance.create(':memory:', {
        memory_limit: '2GiB'
    });
    const connection = await instance.connect();
    const versionPath = join(folder, 'item_version', 'all.parquet');
    await connection.run(`COPY (SELECT '' AS catalogue, 'ad-' || i AS item_id, 0::BIGINT AS from_seq, ` + `9223372036854775807 AS to_seq, TIMESTAMP '2026-11-01' AS from_time, ` + `TIMESTAMP '2200-01-01' AS to_time, true AS live, '1-2' AS sid, 'Ad ' || i AS title, ` + `'{"category":"c' || (i % 20) || '"}' AS attributes FROM range(${ITEMS + 1}) AS t(i)) ` + `TO '${versionPath}' (${mergedForm('item_version')})`);
    await connection.run(`CREATE VIEW item_version AS SELECT * FROM read_parquet('${versionPath}')`);
    for(let hour = 0; hour < HOURS; hour++){
        const at = new Date(BEGIN_MS + hour * HOUR_MS).toISOString().replaceAll('-', '');
        const file = `${at.slice(0, 11)}.n.parquet`;
        const source = `read_parquet('${join(folder, 'recall_fact', file)}')`;
        const tables = [
            [
                'recall_fact',
                recallsOf(hour, Math.ceil(recalls / HOURS)),
                'user_hash, time'
            ],
            [
                'behaviour',
                behavioursOf(source),
                'user_hash, time'
            ],
            [
                'item_hour',
                rollupQuery(source, 'item_version'),
                'hour, item_id'
            ]
        ];
        for (const [table, select, order] of tables){
            await connection.run(`COPY (SELECT * FROM (${select}) ORDER BY ${order}) ` + `TO '${join(folder, table, file)}' (${mergedForm(table)})`);
        }
    }
    connection.closeSync();
    instance.closeSync();
}
/** As a query's process has it. */ const SETTINGS = {
    threads: '2',
    memory_limit: '307MiB'
};
/** Questions over 100 million recalled items (quick: 5 million) of two days. */ export async function questionTimes({ quick, say }) {
    const recalls = quick ? 100_000 : 2_000_000;
    const folder = mkdtempSync(join(tmpdir(), 'tessera-questions-'));
    try {
        say(`two days of ${recalls} recalls of ${ITEMS_PER_RECALL} items`);
        await writeDays(folder, recalls);
        const spilled = {
            temp_directory: join(folder, 'spilled')
        };
        const store = await DuckdbStore.open(folder, {
            ...SETTINGS,
            ...spilled
        });
        const questions = questionsTo(store);
        const rows = [];
        for (const [name, ask] of Object.entries(questions)){
            say(name);
            const times = [];
            for(let turn = 0; turn < TIMES; turn++){
                const began = performance.now();
                await ask();
                times.push((performance.now() - began) / 1000);
            }
            const title = `${name} over ${recalls * ITEMS_PER_RECALL / 1e6} million items: median`;
            rows.push({
                name: title,
                value: quantile(times, 0.5),
                unit: 's',
                bar: 2,
                bound: 'at-most'
            });
        }
        store.close();
        return rows;
    } finally{
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
}
/** One of each view; the overview sets the second day beside the first. */ function questionsTo(store) {
    const actions = {
        windowMs: 1_800_000,
        clicks: [
            'click'
        ],
        impressions: [
            'impression'
        ],
        conversions: [
            'purchase'
        ]
    };
    const asking = {
        store,
        actions
    };
    const toMs = BEGIN_MS + HOURS * HOUR_MS;
    const atMs = BEGIN_MS + HOURS * HOUR_MS / 2;
    const span = {
        fromMs: BEGIN_MS,
        toMs,
        catalogue: '',
        scenes: [],
        attributes: []
    };
    const filter = {
        ...span,
        source: 'served'
    };
    const wanted = {
        attribute: 'category',
        buckets: BUCKETS,
        across: 'daypart',
        values: 12
    };
    return {
        overview: ()=>overview(asking, {
                ...filter,
                fromMs: atMs
            }, BUCKETS),
        composition: ()=>composition(asking, filter, wanted),
        versions: ()=>versions(asking, filter, {
                attribute: 'category',
                isWhole: false
            }),
        'reach of items': ()=>reach(asking, filter, {
                by: 'item',
                atMs,
                limit: ROWS
            }),
        'reach of values': ()=>reach(asking, filter, {
                by: 'category',
                atMs,
                limit: ROWS
            }),
        unreached: ()=>unreached(asking, filter, {
                by: '',
                limit: ROWS
            }),
        ad: ()=>ad(asking, filter, 'ad-7'),
        items: ()=>items(asking, filter, {
                text: 'ad 7',
                offset: 0,
                limit: ROWS
            })
    };
}

//# sourceMappingURL=question-times.js.map
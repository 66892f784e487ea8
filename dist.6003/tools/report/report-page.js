import { composition, overview, popularity, reach, versions } from "../../libs/insight/analysis/src/index.js";
import { barChart, lineChart } from "./charts.js";
const WEEK_MS = 7 * 24 * 3_600_000;
const ROWS_MAX = 20;
const BUCKETS = 24;
const DEFINITIONS = [
    [
        'coverage',
        'live items that an answered recall had, of all live items'
    ],
    [
        'Gini',
        'inequality of the exposure of live items, 0 even to 1'
    ],
    [
        'popularity lift',
        'clicks before of a recalled item, of those of a live item'
    ],
    [
        'novelty',
        'bits of a recalled item by the users who clicked it before'
    ],
    [
        'click rate',
        'shown items with a click, with the 95 % interval of Wilson'
    ],
    [
        'drift',
        'total variation distance of the shares of values, this week to the last'
    ]
];
/** A page that needs nothing beside itself. */ export async function reportPage(asking, settings) {
    const { filter, by } = settings;
    const { fromMs, toMs } = filter;
    const page = await overview(asking, filter, BUCKETS);
    const { lift, novelty } = await popularity(asking, filter);
    const beside = await versions(asking, filter, {
        attribute: '',
        isWhole: true
    });
    const atMs = Math.floor((fromMs + toMs) / 2);
    const reached = await reach(asking, filter, {
        by,
        atMs,
        limit: ROWS_MAX
    });
    const series = (name)=>page.series.map((one)=>({
                timeMs: one.timeMs,
                value: one[name]
            }));
    const outcome = beside.outcome.map(({ adapter, position, clicks })=>{
        const name = `${adapter.slice(0, 8) || 'base'} ${position === 0 ? 'all' : `at ${position}`}`;
        return {
            name,
            value: clicks.rate,
            low: clicks.low,
            high: clicks.high
        };
    });
    const figures = [
        [
            'recalls',
            page.now.recalls
        ],
        [
            'coverage',
            page.now.coverage
        ],
        [
            'Gini',
            page.now.gini
        ],
        [
            'click rate',
            page.now.clickRate.rate
        ],
        [
            'overlap with the span before',
            page.now.overlap ?? 'none'
        ],
        [
            'popularity lift',
            lift ?? 'none'
        ],
        [
            'novelty, bits',
            novelty ?? 'none'
        ],
        [
            `drift of ${by} against last week`,
            await drift(asking, filter, by)
        ]
    ];
    const reachBars = reached.rows.map(({ key, before, after })=>({
            name: key,
            value: before + after
        }));
    return html(`Recalls ${day(fromMs)} to ${day(toMs)}`, [
        table(figures.map(([name, value])=>[
                name,
                shown(value)
            ])),
        lineChart('Coverage', series('coverage')),
        lineChart('Gini of exposure', series('gini')),
        barChart(`Recalls that had an item of each ${by}`, reachBars),
        barChart('Click rate by version and position', outcome),
        '<h2>Definitions</h2>',
        table(DEFINITIONS)
    ]);
}
/** Total variation distance of the shares of an attribute to those of a week before. */ async function drift(asking, filter, attribute) {
    const wanted = {
        attribute,
        buckets: 1,
        across: '',
        values: 50
    };
    const then = {
        ...filter,
        fromMs: filter.fromMs - WEEK_MS,
        toMs: filter.toMs - WEEK_MS
    };
    const [now, before] = [
        await composition(asking, filter, wanted),
        await composition(asking, then, wanted)
    ];
    const shares = new Map(now.values.map(({ value, share })=>[
            value,
            share
        ]));
    for (const { value, share } of before.values)shares.set(value, (shares.get(value) ?? 0) - share);
    return [
        ...shares.values()
    ].reduce((sum, share)=>sum + Math.abs(share), 0) / 2;
}
const escaped = (text)=>text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const day = (ms)=>`${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const shown = (value)=>typeof value === 'number' ? Number(value.toPrecision(4)).toString() : value;
function table(rows) {
    const cells = rows.map(([name, value])=>`<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`);
    return `<table>${cells.join('')}</table>`;
}
function html(title, parts) {
    const style = 'body{font:15px system-ui;max-width:760px;margin:2em auto;color:#212529}' + 'th{text-align:left;font-weight:400;padding-right:2em}td{font-variant-numeric:tabular-nums}' + 'figure{margin:1.5em 0}figcaption{font-weight:600}';
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>` + `<style>${style}</style></head><body><h1>${escaped(title)}</h1>` + `${parts.join('')}</body></html>\n`;
}

//# sourceMappingURL=report-page.js.map
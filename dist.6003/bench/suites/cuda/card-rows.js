import { PUBLISHED_LINK, PUBLISHED_RATE, PUBLISHED_RATE_CONTEXT, PUBLISHED_SHAPE, publishedRecall } from "./published.js";
const RECALL = /^recall\/([^/]+)\/context (\d+)\/requests (\d+)\/width \d+$/;
const STEP = /^constraint\/(\d+) SIDs\/width (\d+)\/step, mean$/;
const FROM_HOST = /^returning\/[^/]+\/context \d+\/copied from the host$/;
const ANSWERED = /^load\/([^/]+)\/context (\d+)\/offered 95 percent\/answered$/;
const PEER_RECALL = /^transformers [^/]+\/([^/]+)\/context (\d+)$/;
/** The share of a recall that the constraint may take. */ const SHARE_BAR_PERCENT = 1;
const STEPS_OF_A_RECALL = 3;
/**
 * Measurements on a card, with their ratio to the floor (the larger of computing and moving at
 * the ceilings of the same run), to published figures and to others on the same card. Ratios to
 * published figures and to others say how many times faster ours is.
 */ export function cardRows(documents) {
    const lines = documents.flatMap(({ results })=>results);
    const ceilings = ceilingsOf(lines);
    return documents.flatMap(({ card, results })=>results.flatMap((line)=>rowsOf(line, lines, ceilings)).map((row)=>({
                ...row,
                name: `${card}: ${row.name}`
            })));
}
function ceilingsOf(lines) {
    const best = (unit)=>Math.max(...lines.filter(({ name, unit: own })=>name.startsWith('peak/') && own === unit).map(({ value })=>value));
    return {
        operations: best('operations/s'),
        bandwidth: best('bytes/s')
    };
}
function rowsOf(line, lines, ceilings) {
    const { name, value, unit } = line;
    const plain = {
        name,
        value,
        unit,
        bar: null
    };
    if (STEP.test(name)) return stepRows(line, lines);
    const published = publishedRow(line) ?? peerRow(line, lines);
    if (published !== undefined) return [
        published
    ];
    const floorUs = 1e6 * floorSeconds(line, ceilings);
    return name.startsWith('kernels/') && floorUs > 0 ? [
        {
            ...plain,
            ratio: {
                value: value / floorUs,
                to: 'floor'
            }
        }
    ] : [
        plain
    ];
}
/** 0 where the line says of no work, or no ceiling was measured. */ function floorSeconds({ operations, bytes }, ceilings) {
    const computing = operations > 0 ? operations / ceilings.operations : 0;
    const moving = bytes > 0 ? bytes / ceilings.bandwidth : 0;
    const seconds = Math.max(computing, moving);
    return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}
function publishedRow({ name, value, unit, bytes }) {
    const row = {
        name,
        value,
        unit
    };
    const [, shape, context, requests] = RECALL.exec(name) ?? [];
    const recall = shape === PUBLISHED_SHAPE ? publishedRecall(Number(context), Number(requests)) : undefined;
    if (recall !== undefined) {
        const ms = value / 1000;
        const ratio = {
            value: recall.value / ms,
            to: `published ${recall.value} ms`
        };
        return {
            name,
            value: ms,
            unit: 'ms',
            ratio,
            bar: 1
        };
    }
    const [, loaded, loadedContext] = ANSWERED.exec(name) ?? [];
    if (loaded === PUBLISHED_SHAPE && Number(loadedContext) === PUBLISHED_RATE_CONTEXT) {
        const to = `published ${PUBLISHED_RATE.value} requests/s`;
        return {
            ...row,
            ratio: {
                value: value / PUBLISHED_RATE.value,
                to
            },
            bar: 1
        };
    }
    if (FROM_HOST.test(name) && bytes > 0) {
        const rate = bytes / (value / 1e6);
        const ratio = {
            value: rate / PUBLISHED_LINK.value,
            to: 'published 45 GiB/s'
        };
        return {
            name,
            value: rate / 2 ** 30,
            unit: 'GiB/s',
            ratio,
            bar: null
        };
    }
    return undefined;
}
/** Of transformers, against our recall of that context on the same card. */ function peerRow({ name, value, unit }, lines) {
    const [, shape, context] = PEER_RECALL.exec(name) ?? [];
    const own = lines.find(({ name: other })=>isRecall(other, shape, Number(context), 1));
    return own === undefined ? undefined : {
        name,
        value,
        unit,
        ratio: {
            value: value / own.value,
            to: 'Tessera'
        },
        bar: 1
    };
}
function isRecall(name, shape, context, requests) {
    const [, ofShape, ofContext, ofRequests] = RECALL.exec(name) ?? [];
    return ofShape !== undefined && ofShape === shape && Number(ofContext) === context && Number(ofRequests) === requests;
}
/** A step of the search: against the sparse-matrix method, and as a share of a recall. */ function stepRows(line, lines) {
    const { name, value, unit } = line;
    const [, items, width] = STEP.exec(name) ?? [];
    const others = lines.filter(({ name: other })=>other.startsWith(`sparse matrix/${items} SIDs/width ${width}/`));
    const steps = others.filter(({ name: other })=>other.endsWith('/step, mean'));
    const best = Math.min(...steps.map((step)=>step.value));
    const row = Number.isFinite(best) ? {
        name,
        value,
        unit,
        ratio: {
            value: best / value,
            to: 'sparse matrix, its best'
        },
        bar: 1
    } : {
        name,
        value,
        unit,
        bar: null
    };
    const recall = lines.find(({ name: other })=>isRecall(other, PUBLISHED_SHAPE, 1000, 1) && other.endsWith(`/width ${width}`));
    if (recall === undefined) return [
        row
    ];
    const share = {
        name: `${name}, share of a recall of a context of 1000`,
        value: 100 * STEPS_OF_A_RECALL * value / recall.value,
        unit: '%',
        bar: SHARE_BAR_PERCENT,
        bound: 'at-most'
    };
    return [
        row,
        share
    ];
}

//# sourceMappingURL=card-rows.js.map
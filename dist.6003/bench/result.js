import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import { dirname } from "node:path";
import { table } from "../tools/terminal/table.js";
export function judge({ bound, ...measurement }) {
    const { bar } = measurement;
    const value = measurement.ratio?.value ?? measurement.value;
    if (bar === null) return {
        ...measurement,
        holds: null
    };
    return {
        ...measurement,
        holds: bound === 'at-most' ? value <= bar : value >= bar
    };
}
export function report(suite, quick, measurements, machine = thisMachine()) {
    return {
        suite,
        quick,
        machine,
        commit: commit(),
        results: measurements.map(judge)
    };
}
export function resultTable({ results }) {
    const verdict = {
        true: 'holds',
        false: 'MISSED',
        null: ''
    };
    return table([
        {
            name: 'name'
        },
        {
            name: 'value',
            right: true
        },
        {
            name: 'unit'
        },
        {
            name: 'ratio',
            right: true
        },
        {
            name: 'to'
        },
        {
            name: 'bar',
            right: true
        },
        {
            name: ''
        }
    ], results.map(({ name, value, unit, ratio, bar, holds })=>[
            name,
            readable(value),
            unit,
            ratio === undefined ? '' : readable(ratio.value),
            ratio?.to ?? '',
            bar === null ? '' : readable(bar),
            verdict[`${holds}`]
        ]));
}
export function writeReport(path, result) {
    mkdirSync(dirname(path), {
        recursive: true
    });
    writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}
export const mean = (values)=>values.reduce((sum, value)=>sum + value, 0) / values.length;
/** Value below which a share of the sorted values lies, by the nearest rank. */ export function quantile(values, share) {
    const sorted = [
        ...values
    ].sort((a, b)=>a - b);
    const at = Math.min(Math.max(Math.ceil(share * sorted.length) - 1, 0), sorted.length - 1);
    return sorted[at] ?? Number.NaN;
}
function readable(value) {
    if (!Number.isFinite(value)) return String(value);
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-GB');
    return String(Number(value.toPrecision(4)));
}
function thisMachine() {
    const gibibytes = Math.round(os.totalmem() / 2 ** 30);
    const model = os.cpus()[0]?.model.trim() ?? 'unknown processor';
    return `${model}, ${os.availableParallelism()} cores, ${gibibytes} GiB, Node ${process.version}`;
}
function commit() {
    try {
        const text = execFileSync('git', [
            'rev-parse',
            '--short=12',
            'HEAD'
        ], {
            encoding: 'utf8'
        });
        return text.trim();
    } catch  {
        return 'unknown';
    }
}

//# sourceMappingURL=result.js.map
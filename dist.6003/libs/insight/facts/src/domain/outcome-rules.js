import { TesseraError } from "../../../../ops/errors/src/index.js";
const UNITS_MS = {
    s: 1000,
    m: 60_000,
    h: 3_600_000
};
const WINDOW = /^(\d{1,6})([smh])$/;
const ACTIONS = /^[^\s,;=]{1,64}(?:,[^\s,;=]{1,64})*$/;
function refusal(text) {
    const message = 'inspection.outcomes: expected window=NUMBER and s, m or h; impression=ACTIONS; ' + `conversion=ACTIONS, got '${text.slice(0, 200)}'`;
    return new TesseraError('CONFIG_INVALID', message, {
        field: 'inspection.outcomes'
    });
}
/**
 * Reads `window=30m; impression=impression; conversion=purchase,order`.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseOutcomes(text) {
    const members = new Map(text.split(';').map((part)=>{
        const [name = '', value = ''] = part.split('=').map((side)=>side.trim());
        return [
            name,
            value
        ];
    }));
    const [, count = '', unit = ''] = WINDOW.exec(members.get('window') ?? '') ?? [];
    const actionsOf = (name)=>{
        const actions = members.get(name) ?? '';
        if (!ACTIONS.test(actions)) throw refusal(text);
        return actions.split(',');
    };
    if (unit === '' || members.size !== 3) throw refusal(text);
    return {
        windowMs: Number(count) * (UNITS_MS[unit] ?? 0),
        impressions: actionsOf('impression'),
        conversions: actionsOf('conversion')
    };
}

//# sourceMappingURL=outcome-rules.js.map
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantile } from "../../result.js";
import { LoadChild } from "../overload/load-child.js";
import { ServedProcess } from "../overload/served-process.js";
import { asked } from "./asked.js";
const WARM_SECONDS = 5;
const TURN_SECONDS = 2;
const BAR = 1.03;
const TOKEN = 'a-token-of-the-benchmark';
const HEADERS = {
    authorization: `Bearer ${TOKEN}`
};
/**
 * Two services that take turns, one recall at a time: with tokens and without; or, where
 * `--against` names another checkout that is built, this one and that one.
 */ export async function alternating({ quick, flags, say }) {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-edges-'));
    const against = flags.text('against');
    const tokensPath = join(folder, 'tokens.json');
    const sha256 = createHash('sha256').update(TOKEN).digest('hex');
    writeFileSync(tokensPath, JSON.stringify([
        {
            name: 'bench',
            scopes: [
                'recall'
            ],
            sha256
        }
    ]));
    const own = against === undefined ? {
        access: {
            tokensPath
        }
    } : {};
    const headers = against === undefined ? HEADERS : {};
    const load = new LoadChild();
    const sides = [];
    try {
        sides.push({
            service: await ServedProcess.start(own),
            headers
        });
        sides.push({
            service: await ServedProcess.start({}, against),
            headers: {}
        });
        say('warming up');
        for (const side of sides)await turn(load, side, WARM_SECONDS);
        const turns = quick ? 6 : 15;
        const seen = [
            [],
            []
        ];
        for(let at = 0; at < turns; at++){
            say(`turn ${at + 1} of ${turns}`);
            const order = at % 2 === 0 ? [
                0,
                1
            ] : [
                1,
                0
            ];
            for (const one of order){
                seen[one]?.push(await turn(load, sides[one], TURN_SECONDS));
            }
        }
        return rows(seen, against === undefined ? [
            'tokens',
            'none'
        ] : [
            'this',
            'the other checkout'
        ]);
    } finally{
        await load.stop();
        for (const { service } of sides)await service.stop();
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
}
function turn(load, { service, headers }, seconds) {
    return asked(load, service, {
        closed: {
            callers: 1
        },
        seconds,
        headers
    });
}
function rows(seen, names) {
    const [own = [], other = []] = seen;
    const [name = '', to = ''] = names;
    const compared = (what, of)=>{
        const middle = (turns)=>quantile(turns.map(of), 0.5);
        const [value, base] = [
            middle(own),
            middle(other)
        ];
        return [
            {
                name: `by turns, ${to}: ${what}`,
                value: base,
                unit: 'ms',
                bar: null
            },
            {
                name: `by turns, ${name}: ${what}`,
                value,
                unit: 'ms',
                ratio: {
                    value: value / base,
                    to
                },
                bar: BAR,
                bound: 'at-most'
            }
        ];
    };
    const latency = ({ answers })=>quantile(answers.map(({ ms })=>ms), 0.5);
    return [
        ...compared('latency, median', latency),
        ...compared('CPU of the main thread, a recall', (one)=>one.mainThreadMsPerRecall)
    ];
}

//# sourceMappingURL=alternating.js.map
import { expecting } from "../../../../ops/errors/src/index.js";
const KEY = 'behaviours.retention';
const invalid = expecting('CONFIG_INVALID');
const RETENTION_WINDOWS_MAX = 32;
const BEHAVIOURS_KEPT_MAX = 100_000;
/**
 * The behaviours that are kept of a user: of each window the newest, none older than its age.
 * Windows share nothing, so what is kept depends on which events arrived, on their order only
 * among those of one time, and never on how often they arrived.
 */ export class Retention {
    windows;
    windowByAction;
    others;
    /** @throws TesseraError CONFIG_INVALID where not every action has one window */ constructor(windows){
        this.windows = windows;
        if (windows.length > RETENTION_WINDOWS_MAX) {
            throw invalid(KEY, `at most ${RETENTION_WINDOWS_MAX} windows`, String(windows.length));
        }
        const byAction = new Map();
        windows.forEach((window, index)=>{
            for (const action of window.actions){
                if (byAction.has(action)) throw invalid(KEY, 'each action in one window', `'${action}' in two`);
                byAction.set(action, index);
            }
            const { behavioursMax } = window;
            if (!(behavioursMax >= 1 && behavioursMax <= BEHAVIOURS_KEPT_MAX)) {
                throw invalid(KEY, `1..${BEHAVIOURS_KEPT_MAX} behaviours in a window`, String(behavioursMax));
            }
        });
        const rest = windows.flatMap((window, index)=>window.actions.length === 0 ? [
                index
            ] : []);
        if (rest.length !== 1) throw invalid(KEY, 'one window for all other actions', String(rest.length));
        this.windowByAction = byAction;
        this.others = rest[0];
    }
    windowOf(action) {
        return this.windowByAction.get(action) ?? this.others;
    }
    /** Per window the first millisecond of which a behaviour is still kept. */ oldestMs(nowMs) {
        return this.windows.map(({ ageMsMax })=>Math.max(0, nowMs - ageMsMax));
    }
}
const UNIT_MS = {
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000
};
/**
 * `purchase=500,365d; view|hover=1000,30d; *=2000`: windows with their actions (`*`: all others),
 * how many behaviours and, where it is bounded, of which age.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseRetention(text) {
    const windows = text.split(';').map((part)=>part.trim()).filter((part)=>part !== '').map(parseWindow);
    return new Retention(windows);
}
function parseWindow(text) {
    const match = /^([^=]+)=\s*(\d+)\s*(?:,\s*(\d+)([smhd])\s*)?$/.exec(text);
    if (match === null) throw invalid(KEY, 'ACTION|ACTION=COUNT or ACTION=COUNT,AGE such as view=500,30d', text);
    const [, names = '', count = '', age, unit = ''] = match;
    const actions = names.split('|').map((name)=>name.trim());
    const others = actions.length === 1 && actions[0] === '*';
    return {
        actions: others ? [] : actions,
        behavioursMax: Number(count),
        ageMsMax: age === undefined ? Number.POSITIVE_INFINITY : Number(age) * UNIT_MS[unit]
    };
}

//# sourceMappingURL=retention.js.map
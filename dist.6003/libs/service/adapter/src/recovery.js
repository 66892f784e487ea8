import { TesseraError } from "../../../ops/errors/src/index.js";
import { inState, reject, rollBack, staysLoaded } from "./domain/registry-state.js";
/** Errors that give a version up; others end the start. */ const HOPELESS = new Set([
    'ADAPTER_INVALID',
    'ADAPTER_CORRUPT',
    'ADAPTER_NOT_FOUND'
]);
/**
 * The state that a start goes on with: what is to stay loaded is loaded, and held until the state
 * is kept. Each version of which that fails is rejected, and what was before it serves.
 */ export async function recovered(kept, { loaded, nowMs }) {
    const lost = [];
    const held = [];
    const seen = new Set();
    let state = kept;
    for(;;){
        const version = state.versions.find((one)=>staysLoaded(state, one) && !seen.has(one));
        if (version === undefined) return {
            state,
            lost,
            held
        };
        seen.add(version);
        try {
            held.push(await loaded.load(version));
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            const canWait = version.state === 'retired' && !version.isPinned;
            if (error.code === 'ADAPTER_ARENA_FULL' && canWait) continue;
            if (!HOPELESS.has(error.code)) throw error;
            lost.push({
                version,
                error
            });
            state = without(state, version, error.message, nowMs);
        }
    }
}
function without(state, version, reason, nowMs) {
    const { name, digest } = version;
    const active = inState(state, name, 'active');
    const isActive = active?.digest === digest;
    // A canary would be ended in its stead: it is of another version, and goes on.
    const cleared = isActive && inState(state, name, 'canary') === undefined ? rollBack(state, name, reason, nowMs).state : state;
    const now = cleared.versions.find((one)=>one.name === name && one.digest === digest);
    return reject(cleared, now ?? version, reason, nowMs);
}

//# sourceMappingURL=recovery.js.map
import { createHash } from "node:crypto";
import { NO_OFFSET } from "../../../log/src/index.js";
const SUM_DIGITS = 32;
const MODULUS = 1n << 128n;
const NOTHING_ERASED = '0'.repeat(SUM_DIGITS);
export const startOf = (log)=>({
        log,
        offset: NO_OFFSET,
        entry: '',
        chain: log,
        erased: NOTHING_ERASED
    });
/** The sum with one more member; the order of the members is the same to it. */ export function withMember(sum, member) {
    const hash = createHash('sha256').update(member).digest('hex').slice(0, SUM_DIGITS);
    const next = (BigInt(`0x${sum}`) + BigInt(`0x${hash}`)) % MODULUS;
    return next.toString(16).padStart(SUM_DIGITS, '0');
}
/** Of the parts of a state, named. */ export function stateDigest(parts) {
    const named = Object.entries(parts).sort(([a], [b])=>a < b ? -1 : 1);
    return createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, SUM_DIGITS);
}

//# sourceMappingURL=position.js.map
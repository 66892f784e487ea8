import { createHash } from "node:crypto";
const RANGE = 2 ** 32;
/**
 * Where a user lies in [0, 1) for a name: the same at every visit and in every process, and of no
 * relation to where the user lies for another name. A canary takes those below its share, so that
 * a share that grows keeps the users it had.
 */ export function placeOf(name, userKey) {
    const hash = createHash('sha256').update(`${name}\n${userKey}`).digest();
    return hash.readUInt32BE(0) / RANGE;
}

//# sourceMappingURL=canary-share.js.map
/**
 * Versions of other base models than the one that is served. A start with another model, on purpose
 * or by a mistake in its path, touches none of them: they are kept as they are, and serve again
 * when their base does.
 */ import { TesseraError } from "../../../../ops/errors/src/index.js";
import { isMeant, versionOf } from "./registry-state.js";
const DIGITS_SHOWN = 16;
/** The registry, split into the served base model's versions and those that wait for another. */ export function ofBase(kept, baseModel) {
    const waits = ({ baseModel: its, state })=>its !== baseModel && state !== 'rejected';
    return {
        state: {
            versions: kept.versions.filter((version)=>!waits(version))
        },
        waiting: kept.versions.filter(waits)
    };
}
/**
 * The one that waits and is meant; undefined where the served base has one that is meant, or none
 * is.
 * @throws TesseraError ADAPTER_INVALID for digits of several versions
 */ export function waitingOf({ versions }, waiting, name, digest) {
    const isIt = (version)=>isMeant(version, name, digest);
    if (versions.some(isIt) || !waiting.some(isIt)) return undefined;
    return versionOf({
        versions: waiting
    }, name, digest);
}
/** As it is shown: it serves nobody, and says what it waits for. */ export function shownWaiting(version) {
    const base = version.baseModel.slice(0, DIGITS_SHOWN);
    const reason = `waits for base model ${base}, with which it was ${version.state}`;
    return {
        ...version,
        state: 'retired',
        share: 0,
        reason
    };
}
/** The answer to a caller who wants to work with one. */ export function waitsForBase(version, served) {
    const base = (digest)=>digest.slice(0, DIGITS_SHOWN);
    const message = `${version.name} ${base(version.digest)}: expected a version of base model ${base(served)}, ` + `which is served, got one that waits for ${base(version.baseModel)}`;
    return new TesseraError('ADAPTER_STATE', message, {
        field: 'digest'
    });
}

//# sourceMappingURL=waiting-versions.js.map
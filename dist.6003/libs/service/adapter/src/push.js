import { TesseraError } from "../../../ops/errors/src/index.js";
import { checkFiles, checkName, digestOf, fileBytes, invalid, REMARK_LENGTH_MAX, receivedVersion } from "./domain/adapter-version.js";
import { receive, reject, validate } from "./domain/registry-state.js";
/** Errors that reject a version; others may pass, and the version waits. */ const FAULTS = new Set([
    'ADAPTER_INVALID',
    'ADAPTER_CORRUPT',
    'MODEL_NOT_FINITE'
]);
/** Versions on their way in: kept whole or not at all, and looked into before anybody gets them. */ export class PushIntake {
    registry;
    trial;
    names = new Set();
    constructor(registry, trial){
        this.registry = registry;
        this.trial = trial;
    }
    /** Pushes that have not ended. */ get underway() {
        return this.names.size;
    }
    /**
   * Resolves when the version is kept and valid. Rejects with PUSH_CONFLICT where another push of
   * the name is under way, ADAPTER_INVALID, ADAPTER_CORRUPT, STORE_FULL, ADAPTER_ARENA_FULL,
   * IO_FAILED.
   * @param by who pushes
   */ async push(parts, by) {
        const all = parts[Symbol.asyncIterator]();
        try {
            const header = headerOf(await all.next());
            const files = this.checked(header);
            return await this.alone(header.name, ()=>this.take({
                    ...header,
                    by
                }, files, all));
        } finally{
            await all.return?.();
        }
    }
    checked({ name, baseModel, files, remark }) {
        checkName(name);
        const { limits, engine } = this.registry.parts;
        if (baseModel !== engine.model.digest) {
            throw invalid('baseModel', `${engine.model.digest}, which is served`, `'${baseModel}'`);
        }
        if (remark.length > REMARK_LENGTH_MAX) {
            throw invalid('remark', `at most ${REMARK_LENGTH_MAX} characters`, remark.length);
        }
        return checkFiles(files, Math.min(limits.versionBytesMax, limits.diskBytesMax));
    }
    async alone(name, act) {
        if (this.names.has(name)) {
            const message = `name: another push of '${name}' is under way`;
            throw new TesseraError('PUSH_CONFLICT', message, {
                field: 'name'
            });
        }
        this.names.add(name);
        try {
            return await act();
        } finally{
            this.names.delete(name);
        }
    }
    async take(header, files, rest) {
        const digest = digestOf(files);
        const { versions } = this.registry.state;
        const known = versions.find((one)=>one.name === header.name && one.digest === digest);
        if (known === undefined || known.state === 'rejected') {
            const version = await this.receive(header, files, digest, rest);
            return {
                version: await this.validate(version),
                isKnown: false
            };
        }
        if (known.state !== 'received') return {
            version: known,
            isKnown: true
        };
        return {
            version: await this.validate(known),
            isKnown: true
        };
    }
    /** The files are there and known to be; from here on a start finds them. */ async receive({ name, baseModel, remark, by }, files, digest, rest) {
        const { registry } = this;
        const giveBack = await registry.reserve(fileBytes(files));
        const staged = await registry.folders.stage(files).catch((thrown)=>{
            giveBack();
            throw thrown;
        });
        try {
            await takeBytes(staged, rest);
            const given = {
                name,
                digest,
                baseModel,
                files,
                remark,
                pushedBy: by
            };
            const version = receivedVersion(given, registry.nowMs());
            await registry.change((state)=>receive(state, version), ()=>registry.keepFiles(staged, digest));
            return version;
        } finally{
            giveBack();
            await staged.discard();
        }
    }
    /** Loads the version where it serves nobody, and answers the golden set with it. */ async validate(version) {
        const { registry } = this;
        const { name, digest } = version;
        try {
            const held = await registry.loaded.load(version);
            try {
                await this.trial(held.served);
                const facts = factsOf(held.served.engine);
                await registry.change((state)=>validate(state, version, facts, registry.nowMs()));
            } finally{
                held.release();
            }
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (FAULTS.has(error.code)) {
                await registry.change((state)=>reject(state, version, error.message, registry.nowMs()));
            }
            throw error;
        }
        return registry.find(name, digest);
    }
}
function factsOf(adapter) {
    const { rankMax, targetCount, replacedRows, largestNorm, heads, isActivated } = adapter;
    return {
        rankMax,
        targetCount,
        replacedRows,
        largestNorm,
        heads,
        isActivated
    };
}
function headerOf(first) {
    if (first.done !== true && 'header' in first.value) return first.value.header;
    throw invalid('header', 'it first', first.done === true ? 'the end of the stream' : 'bytes');
}
/** Rejects with ADAPTER_CORRUPT where the stream ends early: its client may have gone. */ async function takeBytes(staged, rest) {
    for(;;){
        const { done, value } = await rest.next();
        if (done === true) {
            const message = 'end: expected it last, got the end of the stream: the upload is cut off';
            throw new TesseraError('ADAPTER_CORRUPT', message, {
                field: 'end'
            });
        }
        if ('isEnd' in value) return;
        if ('header' in value) throw invalid('header', 'it once', 'another');
        await staged.write(value.data);
    }
}

//# sourceMappingURL=push.js.map
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../ops/errors/src/index.js";
/** Empty where it is not there. */ const read = (folder, name)=>readFile(join(folder, name)).catch(()=>Buffer.of());
/**
 * An arena without an engine. `adapter_config.json` says what comes of a load: `{"r", "norm"}`; the
 * bytes of the weights are those of the arena.
 */ export class FakeAdapterEngine {
    arenaBytes;
    model = {
        digest: 'fake-model'
    };
    /** Loads minus releases, by content. */ held = new Map();
    /** The predecessor of each, by content. */ predecessors = new Map();
    loads = 0;
    /** While set, loads wait for it. */ gate;
    constructor(arenaBytes = 1 << 20){
        this.arenaBytes = arenaBytes;
    }
    async loadAdapter(folder, limits) {
        await this.gate;
        const text = await read(folder, 'adapter_config.json');
        const ranking = await read(folder, 'ranking.json');
        const files = [
            'adapter_model.safetensors',
            'heads.safetensors'
        ];
        const weights = Buffer.concat(await Promise.all(files.map((name)=>read(folder, name))));
        const config = JSON.parse(text.toString() || '{}');
        const { r = 1, norm = 1 } = config;
        const { heads = [] } = JSON.parse(ranking.toString() || '{}');
        const bounds = [
            [
                'r',
                r,
                limits.rankMax
            ],
            [
                'norm',
                norm,
                limits.normMax
            ]
        ];
        for (const [field, got, most] of bounds){
            if (got <= most) continue;
            const file = `${folder}/adapter_config.json`;
            const message = `${file}: ${field}: expected at most ${most}, got ${got}`;
            throw new TesseraError('ADAPTER_INVALID', message, {
                field
            });
        }
        const free = this.arenaBytes - this.adapterArena().usedBytes;
        if (weights.length > free) {
            const message = `adapter: expected room for ${weights.length} bytes, got ${free}`;
            throw new TesseraError('ADAPTER_ARENA_FULL', message);
        }
        this.loads += 1;
        const all = [
            text,
            ranking,
            weights
        ];
        const digest = createHash('sha256').update(Buffer.concat(all)).digest('hex');
        this.held.set(digest, (this.held.get(digest) ?? 0) + 1);
        this.sizes.set(digest, weights.length);
        return {
            digest,
            bytes: weights.length,
            rankMax: r,
            targetCount: text.length === 0 ? 0 : 7,
            replacedRows: 0,
            largestNorm: norm,
            heads: heads.map(({ name })=>name),
            isActivated: config.alora_invocation_tokens !== undefined
        };
    }
    releaseAdapter({ digest }) {
        const count = this.held.get(digest) ?? 0;
        if (count === 0) throw new TesseraError('INTERNAL', `${digest}: released and not loaded`);
        if (count === 1) this.held.delete(digest);
        else this.held.set(digest, count - 1);
    }
    succeedAdapter({ digest }, predecessor) {
        for (const one of [
            digest,
            predecessor.digest
        ]){
            if (!this.held.has(one)) throw new TesseraError('INTERNAL', `${one}: not loaded`);
        }
        this.predecessors.set(digest, predecessor.digest);
    }
    adapterArena() {
        const usedBytes = [
            ...this.held.keys()
        ].reduce((sum, one)=>sum + (this.sizes.get(one) ?? 0), 0);
        return {
            usedBytes,
            maxBytes: this.arenaBytes,
            adapters: this.held.size
        };
    }
    sizes = new Map();
}

//# sourceMappingURL=fake-adapter-engine.js.map
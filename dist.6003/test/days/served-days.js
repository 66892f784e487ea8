/** The service of the days, on folders of its own, and calls of its ordinary callers. */ import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TesseraClient } from "../../libs/edge/client/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { temporaryFolder } from "../../libs/testing/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../libs/ops/units/src/index.js";
import { AdapterClient } from "../../tools/served/adapter-client.js";
import { CatalogueClient } from "../../tools/served/catalogue-client.js";
import { writeRandomAdapter } from "../e2e/random-adapter.js";
import { SMALL, writeRandomModel } from "../e2e/random-model.js";
import { Service } from "../e2e/service.js";
export const BASES = [
    'base-a',
    'base-b'
];
const ADAPTER = 'main';
/** Of factors: answers move a little. */ const FACTOR_SIZE = 0.05;
const CALL_MS = 60_000;
const HISTORY_LIMIT = 1000;
const ACTION = 'view';
/** No user may be known whose sample recall it could print. */ const SERVING = {
    main: 'dist/apps/standalone/src/main.js',
    printed: /OpenAPI\s+http/
};
export const attributesOf = ({ brand, bid, places })=>({
        brand,
        bid,
        places
    });
/** A change of the wire that begins the ad, or replaces it. */ export const upsertOf = (ad)=>({
        upsert: {
            itemId: ad.itemId,
            sid: ad.sid,
            title: ad.itemId,
            attributes: JSON.stringify(attributesOf(ad))
        }
    });
export class ServedDays {
    folder = temporaryFolder({});
    service;
    clients;
    base = 'base-a';
    constructor(ads){
        const [first, second] = BASES;
        const model = writeRandomModel(this.path(first), SMALL);
        const lines = ads.map((ad)=>{
            const { itemId: item_id, sid } = ad;
            return JSON.stringify({
                item_id,
                sid,
                title: item_id,
                attributes: attributesOf(ad)
            });
        });
        writeFileSync(join(model, 'catalogue.jsonl'), `${lines.join('\n')}\n`);
        writeFileSync(join(model, 'users.json'), '{}');
        const other = writeRandomModel(this.path(second), {
            ...SMALL,
            seed: SMALL.seed + 1
        });
        for (const name of [
            'catalogue.jsonl',
            'users.json'
        ]){
            cpSync(join(model, name), join(other, name));
        }
    }
    static async start(ads) {
        const served = new ServedDays(ads);
        await served.begin();
        return served;
    }
    path(name) {
        return join(this.folder.path, name);
    }
    /** @throws Error where it does not start */ async begin() {
        this.service = await Service.start({
            TESSERA_MODEL_PATH: this.path(this.base),
            TESSERA_BEHAVIOURS_STORE: 'embedded',
            TESSERA_BEHAVIOURS_PATH: this.path('behaviours'),
            TESSERA_CATALOGUE_CACHE_PATH: this.path('cache'),
            TESSERA_CATALOGUE_CHANGES_PATH: this.path('changes'),
            TESSERA_ADAPTERS_PATH: this.path('adapters'),
            TESSERA_KV_DISK_BYTES: String(2 ** 26),
            TESSERA_KV_PATH: this.path('kv')
        }, [], SERVING);
        this.clients = clientsOf(this.service.grpcAddress);
    }
    async end(signal) {
        const { service } = this;
        if (service === undefined) return;
        service.child.kill(signal);
        const { status, stderr } = await service.ended;
        this.clients?.close();
        this.clients = undefined;
        this.service = undefined;
        if (signal === 'SIGTERM' && status !== 0) {
            throw new Error(`expected an orderly end, got ${status}: ${stderr}`);
        }
    }
    async remove() {
        await this.end('SIGKILL');
        this.folder.remove();
    }
    /** How many items each change with a predicate matched. */ async apply(changes) {
        const { catalogue } = this.calls;
        const answer = await catalogue.call('Apply', {
            changes
        }, CALL_MS);
        return answer.matched;
    }
    async compact() {
        await this.calls.catalogue.call('Compact', {}, CALL_MS);
    }
    async listed() {
        const pages = this.calls.catalogue.stream('ListItems', {}, CALL_MS);
        const found = [];
        for await (const { items } of pages)found.push(...items);
        return found;
    }
    async append(events) {
        const seen = events.map((event)=>({
                ...event,
                action: ACTION,
                scene: {}
            }));
        await this.calls.tessera.append(seen, CALL_MS);
    }
    async erase(userId) {
        await this.calls.tessera.erase(userId, CALL_MS);
    }
    /** Event IDs, oldest first; none of a user who is not known. */ async history(userId) {
        try {
            const { behaviours } = await this.calls.tessera.history(userId, HISTORY_LIMIT, CALL_MS);
            return behaviours.map(({ eventId })=>eventId);
        } catch (thrown) {
            if (thrown instanceof TesseraError && thrown.code === 'USER_NOT_FOUND') return [];
            throw thrown;
        }
    }
    /** Every ad that may be answered: the beam is as wide as there are codes. */ recall(userId, predicate, caps) {
        const nowMs = Date.now();
        const request = {
            userId,
            frequencyCaps: caps.map(({ attribute, maxBehaviours, sinceMs })=>({
                    action: ACTION,
                    attribute,
                    maxBehaviours,
                    windowSeconds: Math.floor((nowMs - sinceMs) / MILLISECONDS_PER_SECOND)
                })),
            resultCount: 1000,
            itemsPerSid: 1000,
            widths: [
                8,
                64,
                512
            ],
            ...predicate === undefined ? {} : {
                eligibility: {
                    predicate
                }
            }
        };
        return this.calls.tessera.recall(request, CALL_MS);
    }
    /** Digest of the version, once pushed. */ async push(seed) {
        const folder = this.path(`peft-${seed}`);
        const model = this.path(this.base);
        writeRandomAdapter(folder, {
            seed,
            size: FACTOR_SIZE,
            model
        });
        const reply = await fetch(`${this.service?.httpUrl}/health`);
        const { versions } = await reply.json();
        const pushed = {
            name: ADAPTER,
            baseModel: versions.model
        };
        const { adapter } = this.calls;
        const answer = await adapter.pushFolder(folder, pushed, CALL_MS);
        return answer.version.digest;
    }
    async activate(digest) {
        await this.calls.adapter.call('Activate', {
            name: ADAPTER,
            digest
        }, CALL_MS);
    }
    async rollBack() {
        await this.calls.adapter.call('Rollback', {
            name: ADAPTER
        }, CALL_MS);
    }
    async versions() {
        const list = {
            name: ''
        };
        const { versions } = await this.calls.adapter.call('List', list, CALL_MS);
        return versions;
    }
    get calls() {
        if (this.clients === undefined) throw new Error('expected a service that runs');
        return this.clients;
    }
}
function clientsOf(address) {
    const tessera = new TesseraClient(address);
    const catalogue = new CatalogueClient(address);
    const adapter = new AdapterClient(address);
    const close = ()=>{
        tessera.close();
        catalogue.close();
        adapter.close();
    };
    return {
        tessera,
        catalogue,
        adapter,
        close
    };
}

//# sourceMappingURL=served-days.js.map
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Does and audits actions on adapters, for all edges and callers that were let in. */ export class AdapterEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    async pushAs(actor, parts, how = {}) {
        const all = parts[Symbol.asyncIterator]();
        const first = await all.next();
        const part = first.done === true ? undefined : first.value;
        const name = part !== undefined && 'header' in part ? part.header.name : '';
        return this.pushNamed(actor, name, ()=>rejoined(first, all), how);
    }
    /** A failed fetch is audited, and announced on the topic of events, as a refusal is. */ pushNamed(actor, name, parts, how = {}) {
        return this.parts.audits.audited({
            action: 'push',
            actor,
            name,
            digest: '',
            detail: ''
        }, async ()=>this.adapters().push(parts(), actor.name, how), ({ version, isKnown })=>({
                digest: version.digest,
                detail: isKnown ? 'it was there before' : ''
            }));
    }
    activateAs(actor, { name, digest }, wanted, how = {}) {
        const detail = `share ${wanted.share}`;
        return this.parts.audits.audited({
            action: 'activate',
            actor,
            name,
            digest,
            detail
        }, ()=>this.adapters().activate(name, digest, wanted, how), ({ version })=>({
                digest: version.digest
            }));
    }
    rollBackAs(actor, name, how = {}) {
        return this.parts.audits.audited({
            action: 'rollback',
            actor,
            name,
            digest: '',
            detail: ''
        }, ()=>this.adapters().rollBack(name, `rolled back by ${actor.name}`, how), ({ serves, replaced })=>({
                digest: replaced?.digest ?? '',
                detail: `serves ${serves?.digest ?? 'the base model'}`
            }));
    }
    pinAs(actor, { name, digest }, isPinned, how = {}) {
        const action = isPinned ? 'pin' : 'unpin';
        return this.parts.audits.audited({
            action,
            actor,
            name,
            digest,
            detail: ''
        }, ()=>isPinned ? this.adapters().pin(name, digest, how) : this.adapters().unpin(name, digest, how));
    }
    deleteAs(actor, { name, digest }, how = {}) {
        return this.parts.audits.audited({
            action: 'delete',
            actor,
            name,
            digest,
            detail: ''
        }, ()=>this.adapters().delete(name, digest, how));
    }
    list(name) {
        const adapters = this.adapters();
        const { defaultName } = adapters;
        return {
            versions: adapters.list(name),
            defaultName,
            ...adapters.memory()
        };
    }
    get({ name, digest }) {
        const version = this.adapters().find(name, digest);
        return {
            version,
            comparison: this.adapters().comparisonOf(version)
        };
    }
    described(version) {
        return this.adapters().described(version);
    }
    /** Events that nobody asked for. */ async note({ action, name, digest, error, detail }) {
        const actor = {
            name: action === 'rollback' ? 'canary' : 'start'
        };
        const outcome = error?.code ?? 'OK';
        await this.parts.audits.note({
            action,
            actor,
            name,
            digest,
            detail
        }, outcome);
    }
    adapters() {
        const { adapters } = this.parts;
        if (adapters !== undefined) return adapters;
        const message = 'adapters.path: expected a folder, got none: no adapters are kept here';
        throw new TesseraError('ADAPTER_STATE', message);
    }
}
async function* rejoined(first, rest) {
    try {
        for(let next = first; next.done !== true; next = await rest.next())yield next.value;
    } finally{
        await rest.return?.();
    }
}

//# sourceMappingURL=adapter-edge.js.map
/** The rules of a store that all nodes share, in their shortest form. */ export class MemoryKvStore {
    place = 'memory';
    isCluster = false;
    owners = new Map();
    fences = new Map();
    published = 0;
    arrivedBytes() {
        return 0;
    }
    async find({ owner, version }) {
        return this.owners.get(owner)?.get(version)?.head;
    }
    async read({ owner, version }, block) {
        return this.owners.get(owner)?.get(version)?.blocks.get(block);
    }
    async write(chain, block, bytes, erasedUntil) {
        if (this.isErased(chain, erasedUntil)) return 'erased';
        this.chainOf(chain).blocks.set(block, Uint8Array.from(bytes));
        return 'kept';
    }
    async publish(chain, head, replaces, gone, erasedUntil) {
        if (this.isErased(chain, erasedUntil)) return 'erased';
        const there = this.owners.get(chain.owner)?.get(chain.version)?.head;
        const isThere = there !== undefined && Buffer.from(there.head).equals(head);
        if (!isThere && (there?.revision ?? '') !== replaces) return 'changed';
        const kept = this.chainOf(chain);
        if (!isThere) {
            this.published += 1;
            kept.head = {
                head: Uint8Array.from(head),
                revision: String(this.published)
            };
        }
        for (const block of gone)kept.blocks.delete(block);
        return {
            kept: kept.head?.revision ?? ''
        };
    }
    async erase(owner, at) {
        this.owners.delete(owner);
        this.fences.set(owner, Math.max(at, this.fences.get(owner) ?? at));
    }
    async close() {}
    /** Names of all that is kept, fences included. */ names() {
        const chains = [
            ...this.owners
        ].flatMap(([owner, versions])=>[
                ...versions.keys()
            ].map((version)=>`${owner}/${version}`));
        return [
            ...chains,
            ...[
                ...this.fences.keys()
            ].map((owner)=>`${owner}/erased`)
        ];
    }
    isErased({ owner }, erasedUntil) {
        return (this.fences.get(owner) ?? erasedUntil) > erasedUntil;
    }
    chainOf({ owner, version }) {
        const versions = this.owners.get(owner) ?? new Map();
        this.owners.set(owner, versions);
        const chain = versions.get(version) ?? {
            head: undefined,
            blocks: new Map()
        };
        versions.set(version, chain);
        return chain;
    }
}

//# sourceMappingURL=memory-kv-store.js.map
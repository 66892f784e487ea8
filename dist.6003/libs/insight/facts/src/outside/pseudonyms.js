import { createHmac, randomBytes } from "node:crypto";
import { KEY_BYTES, PseudonymKeys } from "./pseudonym-keys.js";
/** Users whose pseudonyms are held in memory. */ const HELD_MAX = 100_000;
/** HMAC-SHA-256 of the user ID with the key, its first 64 bits; never 0, which is nobody. */ function pseudonymOf(userId, key) {
    const digest = createHmac('sha256', key).update(userId).digest();
    return String(digest.readBigUInt64BE() || 1n);
}
/** Random keys of users, by which facts name them; without its key nothing names a user. */ export class Pseudonyms {
    keys;
    /** In the order of use. */ held = new Map();
    constructor(keys){
        this.keys = keys;
    }
    static async open(path) {
        return new Pseudonyms(await PseudonymKeys.open(path));
    }
    /** In their order; those that are new get keys, which are on disk when it resolves. '' -> 0. */ async of(userIds) {
        const unknown = [
            ...new Set(userIds)
        ].filter((id)=>id !== '' && !this.held.has(id));
        if (unknown.length > 0) await this.fetch(unknown);
        const found = userIds.map((id)=>id === '' ? '0' : this.held.get(id) ?? '0');
        for (const id of this.held.keys()){
            if (this.held.size <= HELD_MAX) break;
            this.held.delete(id);
        }
        return found;
    }
    /** Undefined: there is no key, so nothing is known of the user. */ async find(userId) {
        const [key] = await this.keys.find([
            userId
        ]);
        return key && pseudonymOf(userId, key);
    }
    /** The key is overwritten when it resolves. False: there was none. */ async forget(userId) {
        this.held.delete(userId);
        return this.keys.remove(userId);
    }
    /** Keys of a release before, in hexadecimal; who has one here keeps that. */ async take(keys) {
        await this.keys.add(new Map(keys.map(([id, key])=>[
                id,
                Buffer.from(key, 'hex')
            ])));
    }
    close() {
        return this.keys.close();
    }
    async fetch(userIds) {
        const known = await this.keys.find(userIds);
        const fresh = new Map();
        userIds.forEach((id, i)=>{
            const key = known[i] ?? randomBytes(KEY_BYTES);
            if (known[i] === undefined) fresh.set(id, key);
            this.held.set(id, pseudonymOf(id, key));
        });
        try {
            await this.keys.add(fresh);
        } catch (thrown) {
            for (const id of fresh.keys())this.held.delete(id);
            throw thrown;
        }
    }
}

//# sourceMappingURL=pseudonyms.js.map
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { expecting, TesseraError } from "../../errors/src/index.js";
import { hedged } from "./hedged.js";
import { ServerClock } from "./server-clock.js";
const ANSWER_MS_MAX = 2000;
/** A fraction of the lease of a node: a member that hangs costs it no beat. */ const HEDGE_AFTER_MS = 250;
const ANSWER_BYTES_MAX = 64 << 20;
const HTTP_OK = 200;
const base64 = (text)=>(typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length)).toString('base64');
const fromBase64 = (text)=>Buffer.from(text, 'base64').toString();
const invalid = expecting('CONFIG_INVALID');
/** First key behind all that begin so. */ export const endOf = (prefix)=>prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
const SECURED = 'https://';
/** `HOST:PORT` of each, and whether they speak TLS. @throws TesseraError CONFIG_INVALID */ function parseAddresses(text) {
    const given = text.split(',').map((address)=>address.trim().replace(/\/$/, ''));
    const secured = given.filter((address)=>address.startsWith(SECURED));
    if (secured.length > 0 && secured.length < given.length) {
        throw invalid('cluster.etcd', 'https:// before every address or before none', text);
    }
    const addresses = given.map((address)=>address.replace(/^https?:\/\//, ''));
    for (const address of addresses){
        if (!/^[^/\s]+:\d{1,5}$/.test(address)) throw invalid('cluster.etcd', 'HOST:PORT', address);
    }
    return {
        addresses,
        isTls: secured.length > 0
    };
}
/** An answer of etcd that is a refusal. */ let EtcdRefusal = class EtcdRefusal extends Error {
};
/** The part of etcd v3 (3.4 and later) in use, by the JSON gateway that every etcd serves. */ export class Etcd {
    security;
    addresses;
    isTls;
    agent;
    /** The member that answered last is asked first. */ first = 0;
    /** '' for none. */ token = '';
    clock = new ServerClock();
    /**
   * HOST:PORT or URL of members of the etcd cluster, by commas.
   * @throws TesseraError CONFIG_INVALID
   */ constructor(addresses, security = {}){
        this.security = security;
        const parsed = parseAddresses(addresses);
        this.addresses = parsed.addresses;
        this.isTls = parsed.isTls;
        this.agent = new (this.isTls ? HttpsAgent : HttpAgent)({
            keepAlive: true
        });
    }
    /** Of all keys that begin so. */ async entriesUnder(prefix) {
        const range = {
            key: base64(prefix),
            range_end: base64(endOf(prefix))
        };
        const { kvs = [] } = await this.ask('kv/range', range);
        return kvs.map(entryOf);
    }
    /** @returns the lease, which ends `ttlSeconds` after it was kept for the last time */ async grant(ttlSeconds) {
        const { ID } = await this.ask('lease/grant', {
            TTL: ttlSeconds
        });
        return ID;
    }
    /** False: the lease has ended. */ async keep(lease) {
        const answer = await this.ask('lease/keepalive', {
            ID: lease
        });
        return Number(answer.result?.TTL ?? 0) > 0;
    }
    async revoke(lease) {
        await this.ask('lease/revoke', {
            ID: lease
        });
    }
    /** Milliseconds since 1970 by the clock of the members, to a second; 0 before one answered. */ get nowMs() {
        return this.clock.nowMs;
    }
    /**
   * All steps of one side at one revision, after every transaction that was answered before. It may
   * be asked of two members: conditions have to refuse the second.
   */ async transact(conditions, steps) {
        const { where, otherwise = [] } = steps;
        const { succeeded = false, responses = [] } = await this.ask('kv/txn', {
            compare: conditions.map(comparisonOf),
            success: where.map(requestOf),
            failure: otherwise.map(requestOf)
        });
        const found = (succeeded ? where : otherwise).flatMap((step, at)=>'get' in step ? [
                (responses[at]?.response_range?.kvs ?? []).map(entryOf)
            ] : []);
        return {
            holds: succeeded,
            found
        };
    }
    /**
   * Calls `onChange` when a key may have changed, until the signal is aborted. A hint, no more: a
   * change may be missed while another member is asked for the next.
   */ async watch(key, onChange, signal) {
        for(let turn = 0; !signal.aborted; turn += 1){
            const { addresses, first } = this;
            const address = addresses[(first + turn) % addresses.length];
            await this.watchAt(address, key, onChange, signal).catch(()=>undefined);
            await pause(HEDGE_AFTER_MS, undefined, {
                signal
            }).catch(()=>undefined);
        }
    }
    async ask(method, body) {
        const { addresses, first } = this;
        const order = addresses.map((_, index)=>(first + index) % addresses.length);
        const asks = order.map((index)=>(signal)=>this.askOne(addresses[index], method, body, signal));
        try {
            const { answer, place } = await hedged(asks, HEDGE_AFTER_MS);
            this.first = order[place];
            return answer;
        } catch (thrown) {
            throw this.refusalOf(thrown);
        }
    }
    /** With a token where there is a user; one that etcd knows no more is asked for anew, once. */ async askOne(address, method, body, signal) {
        const { username: name } = this.security;
        if (name === undefined) return this.post(address, method, body, signal);
        const authenticate = async ()=>{
            const given = {
                name,
                password: this.security.password ?? ''
            };
            const { token } = await this.post(address, 'auth/authenticate', given, signal);
            this.token = token;
        };
        if (this.token === '') await authenticate();
        try {
            return await this.post(address, method, body, signal);
        } catch (thrown) {
            if (!/auth token|auth store/.test(thrown.message)) throw thrown;
            await authenticate();
            return this.post(address, method, body, signal);
        }
    }
    async post(address, method, body, signal) {
        const limited = AbortSignal.any([
            signal,
            AbortSignal.timeout(ANSWER_MS_MAX)
        ]);
        const reply = await this.begun(address, method, body, limited);
        this.clock.note(Date.parse(reply.headers.date ?? ''));
        const parts = [];
        let bytes = 0;
        for await (const part of reply){
            parts.push(part);
            bytes += part.length;
            if (bytes > ANSWER_BYTES_MAX) throw new Error('more bytes than etcd answers');
        }
        const text = Buffer.concat(parts).toString();
        if (reply.statusCode === HTTP_OK) return JSON.parse(text);
        throw new EtcdRefusal(reasonIn(text) ?? `HTTP ${reply.statusCode}`);
    }
    begun(address, method, body, signal) {
        const { isTls, agent, token } = this;
        const isAuthenticated = token !== '' && method !== 'auth/authenticate';
        const headers = isAuthenticated ? {
            authorization: token
        } : {};
        const request = isTls ? httpsRequest : httpRequest;
        const url = `${isTls ? 'https' : 'http'}://${address}/v3/${method}`;
        return new Promise((resolve, reject)=>{
            const { ca, cert, key } = this.security.tls ?? {};
            const options = {
                method: 'POST',
                agent,
                signal,
                headers,
                ca,
                cert,
                key
            };
            const asked = request(url, options, resolve);
            asked.on('error', reject);
            asked.end(JSON.stringify(body));
        });
    }
    /** Ends where the stream does. */ async watchAt(address, key, onChange, signal) {
        const reply = await this.begun(address, 'watch', {
            create_request: {
                key: base64(key)
            }
        }, signal);
        for await (const _ of reply)onChange();
    }
    refusalOf(thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        if (/user name is empty/.test(reason)) {
            return invalid('cluster.etcdUser', 'a user, which this etcd asks for', 'none', thrown);
        }
        if (/space exceeded/.test(reason)) {
            const remedy = 'compact it, defragment it, disarm its alarm (docs/operate/cluster.md)';
            const message = `cluster.etcd: expected room in etcd, got ${reason}: ${remedy}`;
            return new TesseraError('STORE_FULL', message, {
                field: 'cluster.etcd',
                cause: thrown
            });
        }
        if (/authentication failed|authentication is not enabled|permission denied/.test(reason)) {
            const expected = 'a user whom etcd knows, and who may read and write /tessera/';
            return invalid('cluster.etcdUser', expected, reason, thrown);
        }
        const addresses = this.addresses.join(', ');
        const message = `cluster.etcd: expected an answer of ${addresses}, got ${reason}`;
        return new TesseraError('STORE_UNAVAILABLE', message, {
            field: 'cluster.etcd',
            cause: thrown
        });
    }
}
/** Of an answer that refuses. */ function reasonIn(text) {
    try {
        const { error, message } = JSON.parse(text);
        const reason = message ?? error;
        return typeof reason === 'string' ? reason : JSON.stringify(reason);
    } catch  {
        return undefined;
    }
}
const comparisonOf = (condition)=>{
    const to = {
        key: base64(condition.key),
        result: 'EQUAL'
    };
    if ('value' in condition) {
        return Object.assign(to, {
            target: 'VALUE',
            value: base64(condition.value)
        });
    }
    if ('lease' in condition) {
        return Object.assign(to, {
            target: 'LEASE',
            lease: condition.lease
        });
    }
    return 'modified' in condition ? Object.assign(to, {
        target: 'MOD',
        mod_revision: condition.modified
    }) : Object.assign(to, {
        target: 'CREATE',
        create_revision: condition.created
    });
};
function requestOf(step) {
    if ('put' in step) {
        const { put, value, lease } = step;
        return {
            requestPut: {
                key: base64(put),
                value: base64(value),
                lease
            }
        };
    }
    const end = step.end === undefined ? {} : {
        range_end: base64(step.end)
    };
    if ('get' in step) {
        const range = Object.assign(end, {
            key: base64(step.get),
            limit: String(step.limit ?? 0)
        });
        return {
            requestRange: range
        };
    }
    return {
        requestDeleteRange: Object.assign(end, {
            key: base64(step.remove)
        })
    };
}
const entryOf = (answer)=>({
        key: fromBase64(answer.key),
        value: Buffer.from(answer.value ?? '', 'base64'),
        created: answer.create_revision ?? '0',
        modified: answer.mod_revision ?? '0',
        lease: answer.lease ?? '0'
    });

//# sourceMappingURL=etcd.js.map
/** Which hosts and origins of an HTTP request are this service's own. */ const HOST_CHARACTERS = /^(\[[0-9a-f:.]+\]|[\w.-]+)$/i;
const ADDRESS = /^(\[.*\]|\d+\.\d+\.\d+\.\d+)$/;
const MAPPED_LOOPBACK = /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/;
/**
 * A name or address as browsers and the resolver take it: lower case, `127.1` as `127.0.0.1`, IPv6
 * in brackets. undefined: neither a name nor an address, such as `127.0.0.999`.
 */ function canonicalHost(host) {
    const bare = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    if (!HOST_CHARACTERS.test(bare)) return undefined;
    const url = `http://${bare}/`;
    return URL.canParse(url) ? new URL(url).hostname : undefined;
}
/** True if an address is reached from its own machine alone. */ export function isLoopback(host) {
    const name = canonicalHost(host);
    if (name === undefined) return false;
    if (name === 'localhost' || name === 'localhost.' || name === '[::1]') return true;
    return /^127\.\d+\.\d+\.\d+$/.test(name) || MAPPED_LOOPBACK.test(name);
}
/** The name or address in a header `host`, without its port. undefined: the header is malformed. */ export function hostOfHeader(header) {
    return canonicalHost(header.replace(/:\d{1,5}$/, ''));
}
/** Names of which it is remembered whether they are ours. */ const JUDGED_MAX = 100;
/**
 * True if a page of another site sent it. Callers that are no browsers say nothing of that.
 * @param publicHost that people ask for where a proxy asks for another; '': none
 */ export function isForeign({ host, origin, 'sec-fetch-site': site }, publicHost) {
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
    if (origin === undefined) return false;
    const from = URL.canParse(origin) ? new URL(origin).host : '';
    return from === '' || from !== host && from !== publicHost;
}
/** Against DNS rebinding and requests that other sites' pages send. */ export class OwnSite {
    names;
    publicHost;
    isLocal;
    takesAnyName;
    /** Callers ask for few names again and again; judging one takes microseconds. */ judged = new Map();
    constructor({ host, publicNames, publicUrl, isGuarded }){
        this.publicHost = URL.canParse(publicUrl) ? new URL(publicUrl).host : '';
        const listed = publicNames.split(',').map((name)=>name.trim());
        const names = [
            ...listed,
            this.publicHost
        ].filter((name)=>name !== '');
        this.names = new Set(names.flatMap((name)=>hostOfHeader(name) ?? []));
        this.isLocal = isLoopback(host);
        this.takesAnyName = !this.isLocal && listed.every((name)=>name === '') && isGuarded;
    }
    /**
   * True if the name that was asked for leads here on purpose. An address cannot be rebound, so any
   * is taken where the service is reached from other machines.
   */ hasName(header = '') {
        if (this.takesAnyName) return true;
        const known = this.judged.get(header);
        if (known !== undefined) return known;
        const isOwn = this.isOwn(header);
        if (this.judged.size >= JUDGED_MAX) this.judged.clear();
        this.judged.set(header, isOwn);
        return isOwn;
    }
    isOwn(header) {
        const name = hostOfHeader(header);
        if (name === undefined) return false;
        if (isLoopback(name) || this.names.has(name)) return true;
        return !this.isLocal && ADDRESS.test(name);
    }
    isForeign(headers) {
        return isForeign(headers, this.publicHost);
    }
}

//# sourceMappingURL=site.js.map
/** A file that items come from: a snapshot, or one of the importable formats. */ const DOMAIN_SUFFIX = '#domain=';
/** Reads `path` or `path#domain=ad`. */ export function parseSource(text) {
    const at = text.lastIndexOf(DOMAIN_SUFFIX);
    if (at < 0) return {
        path: text,
        domain: ''
    };
    return {
        path: text.slice(0, at),
        domain: text.slice(at + DOMAIN_SUFFIX.length)
    };
}

//# sourceMappingURL=catalogue-source.js.map
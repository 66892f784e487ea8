/** The tokens of all parts, one behind the other. */ export function joined(parts) {
    const tokens = new Int32Array(parts.reduce((sum, { length })=>sum + length, 0));
    let at = 0;
    for (const part of parts){
        tokens.set(part, at);
        at += part.length;
    }
    return tokens;
}

//# sourceMappingURL=joined-tokens.js.map
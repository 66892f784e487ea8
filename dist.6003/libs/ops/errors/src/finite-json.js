/**
 * The text of what JSON.parse() gave; the first number in it that JSON has no words for where there
 * is one: 1e400 is parsed as an infinity, which JSON.stringify() would write as null.
 */ export function finiteJson(value) {
    let infinite;
    const text = JSON.stringify(value, (_name, member)=>{
        if (typeof member === 'number' && !Number.isFinite(member)) infinite ??= member;
        return member;
    });
    return infinite ?? text;
}

//# sourceMappingURL=finite-json.js.map
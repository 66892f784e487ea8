/** Message -> JSON. Fields that the descriptor lacks are left out. */ function wordOf({ name, words }, number) {
    const found = Object.keys(words).find((word)=>words[word] === number);
    if (found === undefined) throw new Error(`${name}: expected a value with a word, got ${number}`);
    return found;
}
/** Text of JSON that is not there. */ function isNoText({ kind }, value) {
    return kind === 'verbatim' && value === '';
}
export class JsonWriter {
    plans;
    constructor(plans){
        this.plans = plans;
    }
    write(type, message) {
        const json = {};
        for (const field of this.plans.of(type).fields.values()){
            const value = message[field.name];
            const isThere = value !== undefined && value !== null && !isNoText(field, value);
            if (isThere) json[field.name] = this.field(field, value);
        }
        return json;
    }
    field(field, value) {
        if (field.isMap) return value;
        const content = field.listIn === '' ? value : value[field.listIn];
        if (!field.isList) return this.one(field, content);
        return content.map((entry)=>this.one(field, entry));
    }
    one(field, value) {
        if (field.kind === 'word') return wordOf(field, value);
        if (field.kind === 'verbatim') return JSON.parse(value);
        if (field.message === undefined) return value;
        return this.write(field.message, value);
    }
}

//# sourceMappingURL=write-json.js.map
/**
 * Instructions by file from a callgrind profile, read line by line.
 * Format: https://valgrind.org/docs/manual/cl-format.html
 */ /** A part of the profile: a source file within an object (a program or a library). */ const NAMED = /^(c?ob|c?f[lie]|c?fn)=\((\d+)\)(?: (.*))?$/;
/** Names are written once and then stand as numbers, in one numbering for each kind. */ let Names = class Names {
    known = new Map();
    resolve(key, number, name) {
        const kind = key.endsWith('ob') ? 'object' : key.endsWith('fn') ? 'function' : 'file';
        const id = `${kind} ${number}`;
        if (name !== undefined) this.known.set(id, name);
        return this.known.get(id) ?? '';
    }
};
/**
 * Own instructions of each place. What the standard library does for a function (another object,
 * neither our own nor `node`) counts where it is called from.
 */ export function* costs(lines) {
    const names = new Names();
    let place = {
        object: '',
        file: '',
        functionFile: ''
    };
    let callee = '';
    let isCall = false;
    for (const line of lines){
        const named = NAMED.exec(line);
        if (named !== null) {
            const [, key = '', number = '', given] = named;
            const name = names.resolve(key, number, given);
            if (key === 'ob') place = {
                ...place,
                object: name
            };
            else if (key === 'cob') callee = name;
            else if (key === 'fl') place = {
                ...place,
                file: name,
                functionFile: name
            };
            else if (key === 'fi' || key === 'fe') place = {
                ...place,
                file: name
            };
            else if (key === 'fn') callee = '';
        } else if (line.startsWith('calls=')) {
            isCall = true;
        } else if (/^[+\-*\d]/.test(line)) {
            const instructions = Number(line.slice(line.lastIndexOf(' ') + 1));
            if (!isCall || isLibrary(callee, place.object)) yield {
                place,
                instructions
            };
            if (isCall) callee = '';
            isCall = false;
        }
    }
}
/** A call that names no object stays within that of its caller. */ function isLibrary(callee, caller) {
    return callee !== '' && callee !== caller && /\.so(\.|$)/.test(callee);
}

//# sourceMappingURL=callgrind.js.map
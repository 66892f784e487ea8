/** Writers go through together, or one alone while nobody else is inside. */ export class WriteGate {
    inside = new Set();
    /** Ends with the last of those who asked to be alone. */ alone;
    /** With others, in the order of the calls. */ async together(write) {
        while(this.alone !== undefined)await this.alone;
        const writing = write();
        const over = writing.then(nothing, nothing);
        this.inside.add(over);
        try {
            return await writing;
        } finally{
            this.inside.delete(over);
        }
    }
    /** When those inside and those who asked before are through; later ones wait. */ async byItself(write) {
        const before = this.alone;
        const writing = (async ()=>{
            await before;
            await Promise.all(this.inside);
            return write();
        })();
        const over = writing.then(nothing, nothing);
        this.alone = over;
        try {
            return await writing;
        } finally{
            if (this.alone === over) this.alone = undefined;
        }
    }
}
function nothing() {}

//# sourceMappingURL=write-gate.js.map
import { TesseraError } from "../../../ops/errors/src/index.js";
/** Catalogues by the names that requests choose them by; '' is the first. */ export class ServedCatalogues {
    all;
    constructor(all){
        this.all = all;
    }
    /** @throws TesseraError REQUEST_INVALID where there is none of the name */ of(name = '') {
        const named = this.all.find((one)=>one.name === name);
        if (named !== undefined) return named;
        const names = this.all.map((one)=>`'${one.name}'`).join(', ');
        const message = `catalogue: expected one of ${names}, got '${name.slice(0, 80)}'`;
        throw new TesseraError('REQUEST_INVALID', message, {
            field: 'catalogue'
        });
    }
}

//# sourceMappingURL=served-catalogues.js.map
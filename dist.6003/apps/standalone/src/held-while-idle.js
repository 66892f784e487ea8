import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Things that requests took and did not give back, though none is under way. */ export function heldWhileIdle({ facts, operations, admissions }) {
    const { underway, ...held } = facts.heldWhileIdle();
    const { pushBytes = 0 } = operations.adapters?.heldWhileIdle() ?? {};
    const isIdle = underway === 0;
    return {
        ...held,
        pushBytes,
        admission: isIdle ? placesOf(admissions) : 0
    };
}
const placesOf = (admissions)=>Object.values(admissions).reduce((sum, { inFlight })=>sum + inFlight, 0);
/** Once every call has ended: fails where something is still held. */ export function nothingHeld(holders, budgetMs) {
    return {
        name: 'nothing held',
        budgetMs,
        act: ()=>{
            const held = Object.entries(heldWhileIdle(holders)).filter(([, count])=>count !== 0);
            if (held.length === 0) return;
            const got = held.map(([kind, count])=>`${kind} ${count}`).join(', ');
            throw new TesseraError('INTERNAL', `held: expected nothing after the last call, got ${got}`);
        }
    };
}

//# sourceMappingURL=held-while-idle.js.map
/**
 * Nodes say with every answer how long a request would wait there, in classes: each is twice the
 * one before, so that a number of one or two digits is enough and says what a router needs.
 */ import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
/** 32 s and more. */ export const LOAD_CLASS_MAX = 16;
/** 0: less than a millisecond; c: from 2^(c-1) ms on. */ export function loadClassOf(us) {
    const ms = us / MICROSECONDS_PER_MILLISECOND;
    if (!(ms >= 1)) return 0;
    return Math.min(LOAD_CLASS_MAX, 1 + Math.floor(Math.log2(ms)));
}
/** The least that a class stands for. */ export function leastUsOf(loadClass) {
    return loadClass === 0 ? 0 : 2 ** (loadClass - 1) * MICROSECONDS_PER_MILLISECOND;
}
/** Undefined where the text is no class. */ export function parseLoadClass(text) {
    if (text === undefined || !/^\d{1,2}$/.test(text)) return undefined;
    return Math.min(LOAD_CLASS_MAX, Number(text));
}

//# sourceMappingURL=load-class.js.map
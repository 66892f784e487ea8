/** Promises of an OpenAPI document that a later one breaks, a sentence for each. */
export function brokenPromises(before: object, after: object): string[];

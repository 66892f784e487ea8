import { integerOf } from "./fields.js";
/** The field that a recall over HTTP has not: the number of the last change that is to count. */ const SEQUENCE_FIELD = 'catalogueSequence';
/** @throws TesseraError REQUEST_INVALID with the field */ export function trialSettings(fields) {
    const { [SEQUENCE_FIELD]: given, ...body } = fields;
    if (given === undefined) return {
        body,
        sequence: undefined
    };
    const bounds = {
        min: 0,
        max: Number.MAX_SAFE_INTEGER
    };
    return {
        body,
        sequence: integerOf(fields, SEQUENCE_FIELD, bounds)
    };
}
/** The context in which requests that differ in their user alone reach the version. */ export async function versionedContext(serving, request, sequence, context) {
    if (sequence === undefined) return context;
    return {
        ...context,
        pinned: await serving.pin(request, sequence)
    };
}

//# sourceMappingURL=trial-settings.js.map
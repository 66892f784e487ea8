import { ERROR_TRAILERS, isConnectionLost, isErrorCode } from "../../../../ops/errors/src/index.js";
/** Codes of nodes that have refused before they began, so that another one may be asked. */ const BUSY = new Set([
    'ENGINE_OVERLOADED',
    'ENGINE_UNAVAILABLE',
    'ENGINE_CLOSED'
]);
/** Codes of nodes that could not append a change to the log; another one may, under one key. */ const CANNOT_APPEND = new Set([
    ...[
        'STORE_UNAVAILABLE',
        'STORE_FULL',
        'LOG_DIFFERENT',
        'LOG_TRIMMED',
        'NODE_UNAVAILABLE'
    ],
    ...[
        'DEADLINE_EXCEEDED',
        'BROKER_UNAVAILABLE'
    ]
]);
/** Of a code that a node's answer bears; '' for none. `isChange`: it was to append a change. */ export function failureOfCode(code, isChange = false) {
    if (!isErrorCode(code)) return 'away';
    return BUSY.has(code) || isChange && CANNOT_APPEND.has(code) ? 'busy' : 'final';
}
/** Of a call that bears no code of a node: whether the connection was there, and held. */ export function failureOfCall({ code, details = '', metadata }, isChange = false) {
    const named = metadata?.get(ERROR_TRAILERS.code)[0]?.toString() ?? '';
    if (named !== '') return failureOfCode(named, isChange);
    return isConnectionLost(code, details) ? 'away' : 'final';
}

//# sourceMappingURL=failures.js.map
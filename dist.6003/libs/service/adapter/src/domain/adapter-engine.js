/** The part of the engine that the registry uses. */ /** Limits of an adapter. */ /**
 * True if the adapter with heads changes nothing of a prompt: it ranks requests that run with any
 * other one.
 */ export function ranksApart({ isActivated, targetCount, replacedRows }) {
    return isActivated || targetCount === 0 && replacedRows === 0;
}

//# sourceMappingURL=adapter-engine.js.map
/** Digests that a node reports by kind (`model` and so on), as in `/health`. */ /** Kinds that may differ among nodes that take requests: a catalogue changes while it serves. */ const OWN_KINDS = new Set([
    ...[
        'service',
        'node',
        'catalogue'
    ],
    // The log of the cluster says them.
    ...[
        'changes',
        'adapters'
    ]
]);
/**
 * The version that a cluster serves is the one that the greatest weight of its nodes serves, and of
 * equals the one of the node whose name comes first: all who see the same reports decide alike.
 */ export function decideVersions(reports) {
    const byName = [
        ...reports
    ].sort((a, b)=>a.name < b.name ? -1 : 1);
    const kinds = [
        ...new Set(byName.flatMap(({ versions })=>Object.keys(versions)))
    ].filter((kind)=>!OWN_KINDS.has(kind)).sort();
    const key = ({ versions })=>kinds.map((kind)=>versions[kind]).join(' ');
    const weights = new Map();
    for (const report of byName){
        weights.set(key(report), (weights.get(key(report)) ?? 0) + report.weight);
    }
    let decided;
    for (const report of byName){
        const weight = weights.get(key(report)) ?? 0;
        if (decided === undefined || weight > (weights.get(key(decided)) ?? 0)) decided = report;
    }
    const expected = decided?.versions ?? {};
    const differences = byName.flatMap(({ name, versions })=>kinds.filter((kind)=>versions[kind] !== expected[kind]).map((kind)=>({
                name,
                kind,
                expected: expected[kind] ?? '',
                got: versions[kind] ?? ''
            })));
    const entries = kinds.map((kind)=>[
            kind,
            expected[kind] ?? ''
        ]);
    return {
        versions: Object.fromEntries(entries),
        differences
    };
}

//# sourceMappingURL=decided-versions.js.map
/** A line for each layer with experts that no prompt reached, none where all were. */ export function unseenLines(unseen) {
    const byLayer = new Map();
    for (const { layer, expert } of unseen){
        const experts = byLayer.get(layer) ?? [];
        byLayer.set(layer, [
            ...experts,
            expert
        ]);
    }
    return [
        ...byLayer
    ].map(([layer, experts])=>`layer ${layer}: no row chose ${experts.length === 1 ? 'expert' : 'experts'} ` + `${experts.join(', ')}; the scale is the largest of the layer's other experts`);
}

//# sourceMappingURL=unseen-experts.js.map
export function addConditions({ conditions }, cluster, membership) {
    conditions.add({
        name: 'nodes',
        kind: 'dependency',
        isNeeded: true,
        read: ()=>{
            const links = cluster.links();
            // A node that lacks what most requests need is no reason to send them here.
            const away = links.filter(({ state, blocked })=>state !== 'up' || blocked !== '');
            if (links.length > 0 && away.length === 0) return {
                state: 'ok',
                reason: ''
            };
            const state = away.length < links.length ? 'degraded' : 'down';
            const named = away.map(({ member, state: is, reason, blocked })=>`${member.name} ${is}: ${reason || blocked}`);
            return {
                state,
                reason: links.length === 0 ? 'no nodes' : named.join('; ')
            };
        }
    });
    conditions.add({
        name: 'roles',
        kind: 'dependency',
        isNeeded: false,
        read: ()=>{
            const missing = cluster.missingRoles;
            const reasons = missing.map((role)=>`no ${role} node takes requests: others take their calls`);
            return {
                state: missing.length === 0 ? 'ok' : 'degraded',
                reason: reasons.join('; ')
            };
        }
    });
    conditions.add({
        name: 'node-health',
        kind: 'dependency',
        isNeeded: false,
        read: ()=>{
            const names = cluster.unbelieved.map(({ member })=>member.name).join(', ');
            const reason = `most nodes miss answers of health: ${names} are asked all the same`;
            return names === '' ? {
                state: 'ok',
                reason: ''
            } : {
                state: 'degraded',
                reason
            };
        }
    });
    conditions.add({
        name: 'membership',
        kind: 'dependency',
        isNeeded: false,
        read: ()=>membership.reading()
    });
}
export function showGateway(metrics, { conditions }, access, cluster, tallies) {
    const { counts, split, wanted } = tallies;
    metrics.showConditions(()=>conditions.all());
    metrics.showAccess(()=>access.counts());
    metrics.showCluster(()=>({
            forwarded: [
                ...counts.forwarded.values()
            ],
            retries: counts.retries,
            refusedAhead: counts.refusedAhead,
            nodes: cluster.links().map(({ member: { name }, state })=>{
                const outstandingUs = cluster.outstandingUs(name);
                return {
                    name,
                    state,
                    outstandingUs
                };
            }),
            wanted,
            revision: cluster.table.revision
        }));
    metrics.showSplit(()=>split);
}

//# sourceMappingURL=observed.js.map
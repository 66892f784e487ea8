const DEPENDENCIES = {
    redis: 'redis',
    remote: 'feature'
};
/**
 * The store of behaviours as a dependency, where it is on another machine. Requests that carry
 * their history go on without it; `isNeeded`: all others would be refused, so the process is not
 * ready while it is away.
 */ export function addBehaviourReach(conditions, { store, isNeeded }, read) {
    const name = DEPENDENCIES[store];
    if (name !== undefined) conditions.add({
        name,
        kind: 'dependency',
        isNeeded,
        read
    });
}

//# sourceMappingURL=behaviour-reach.js.map
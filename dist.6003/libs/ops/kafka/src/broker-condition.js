/** The broker as a dependency: calls go on without it, topics wait for it. */ export function brokerCondition(server) {
    return {
        name: 'kafka',
        kind: 'dependency',
        isNeeded: false,
        read: ()=>server.reach()
    };
}

//# sourceMappingURL=broker-condition.js.map
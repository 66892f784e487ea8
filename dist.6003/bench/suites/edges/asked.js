import { demoUserIds } from "../overload/demo-users.js";
const PATIENCE_MS = 5000;
/** Enum Priority: normal. */ const PRIORITIES = [
    2
];
/** Recalls of the demo's users from the generator's process; all of them have to be answered. */ export async function asked(load, service, offered) {
    const before = service.mainThreadMs();
    const outcome = await load.run({
        address: service.grpcAddress,
        userIds: demoUserIds(),
        connections: 1,
        seed: 1,
        deadlineMs: [
            PATIENCE_MS,
            PATIENCE_MS
        ],
        priorities: PRIORITIES,
        readsTimings: true,
        ...offered
    });
    const { answers, seconds, byPriority } = outcome;
    const refused = Object.values(byPriority).reduce((sum, one)=>sum + one.offered - one.good, 0);
    if (refused > 0) throw new Error(`expected ${answers.length} answers, got ${refused} refusals`);
    return {
        answers,
        recallsPerSecond: answers.length / seconds,
        mainThreadMsPerRecall: (service.mainThreadMs() - before) / answers.length
    };
}

//# sourceMappingURL=asked.js.map
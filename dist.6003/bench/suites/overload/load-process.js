/** Offers recalls to a service over gRPC, in a process of its own; its parent sends the plans. */ import { setTimeout as after } from "node:timers/promises";
import { protoSchema } from "../../../libs/ops/contracts/src/index.js";
import protobuf from "protobufjs";
import { Random } from "../../models/random.js";
import { CANCELLED_BY_CALLER, GrpcConnection } from "./grpc-connection.js";
const PATH = '/tessera.recall.v1.RecallService/Recall';
const TICK_MS = 1;
const MS_PER_SECOND = 1000;
const US_PER_SECOND = 1e6;
const US_PER_MS = 1000;
/** Answers are awaited for so long after the last call's deadline. */ const TAIL_MS = 200;
const OK = 0;
const DEADLINE_EXCEEDED = 4;
/** RESOURCE_EXHAUSTED, UNAVAILABLE. */ const REFUSALS = new Set([
    8,
    14
]);
/** Messages by user and priority, encoded once. */ function messagesOf({ userIds, priorities }) {
    const type = protobuf.Root.fromJSON(protoSchema).lookupType('tessera.recall.v1.RecallRequest');
    return priorities.map((priority)=>userIds.map((userId)=>Buffer.from(type.encode(type.create({
                userId,
                priority
            })).finish())));
}
function timesOf(kept) {
    const type = protobuf.Root.fromJSON(protoSchema).lookupType('tessera.recall.v1.RecallResponse');
    return kept.map(({ ms, answer })=>{
        const { timings } = type.toObject(type.decode(answer), {
            defaults: true
        });
        const us = (...names)=>names.reduce((sum, name)=>sum + (timings[`${name}Us`] ?? 0), 0);
        const arithmeticUs = us('prefill', 'decode', 'head', 'select');
        return {
            ms,
            engineMs: (us('total') - us('features', 'prompt')) / US_PER_MS,
            stagesMs: (arithmeticUs + us('queue', 'plan', 'fork', 'export')) / US_PER_MS,
            arithmeticMs: arithmeticUs / US_PER_MS,
            recallMs: us('total') / US_PER_MS
        };
    });
}
const noOutcome = ()=>({
        offered: 0,
        good: 0,
        late: 0,
        refused: 0,
        expired: 0,
        timedOut: 0,
        unsent: 0,
        broken: 0,
        other: 0
    });
let Load = class Load {
    plan;
    connections;
    random;
    messages;
    outcomes;
    /** Calls whose deadline ends in a tick, by the tick's number. */ ending = new Map();
    waiting = [];
    goodMs = [];
    refusedMs = [];
    goodBySecond = [];
    kept = [];
    begun = 0;
    ticked = 0;
    startedMs = 0;
    constructor(plan, connections){
        this.plan = plan;
        this.connections = connections;
        this.random = new Random(plan.seed);
        this.messages = messagesOf(plan);
        this.outcomes = plan.priorities.map(noOutcome);
    }
    async run() {
        const { seconds, open, closed, priorities } = this.plan;
        const cpu = process.cpuUsage();
        this.startedMs = performance.now();
        for(let caller = 0; caller < (closed?.callers ?? 0); caller++)this.begin();
        const endMs = this.startedMs + seconds * MS_PER_SECOND;
        while(performance.now() < endMs){
            const elapsed = (performance.now() - this.startedMs) / MS_PER_SECOND;
            const due = Math.floor(elapsed * (open?.rate ?? 0));
            while(open !== undefined && this.begun < due)this.begin();
            this.tick();
            await after(TICK_MS);
        }
        this.isEnding = true;
        const lastMs = endMs + this.plan.deadlineMs[1] + TAIL_MS;
        while(performance.now() < lastMs && this.isUnderWay()){
            this.tick();
            await after(TICK_MS);
        }
        const { user, system } = process.cpuUsage(cpu);
        const ascending = (a, b)=>a - b;
        return {
            seconds,
            byPriority: Object.fromEntries(priorities.map((one, i)=>[
                    one,
                    this.outcomes[i]
                ])),
            goodMs: this.goodMs.sort(ascending),
            refusedMs: this.refusedMs.sort(ascending),
            goodBySecond: this.goodBySecond,
            answers: timesOf(this.kept),
            cpuSeconds: (user + system) / US_PER_SECOND
        };
    }
    isEnding = false;
    isUnderWay() {
        return this.waiting.length > 0 || this.connections.some(({ inFlight })=>inFlight > 0);
    }
    begin() {
        const { priorities, userIds, deadlineMs } = this.plan;
        const at = this.begun++;
        const lane = at % priorities.length;
        const user = Math.floor(this.random.uniform() * userIds.length);
        const [shortest, longest] = deadlineMs;
        const call = {
            message: this.messages[lane]?.[user],
            outcome: this.outcomes[lane],
            begunMs: performance.now(),
            timeoutMs: shortest + this.random.uniform() * (longest - shortest),
            cancel: undefined,
            isOver: false
        };
        call.outcome.offered += 1;
        const tick = this.tickOf(call.begunMs + call.timeoutMs);
        const bucket = this.ending.get(tick) ?? [];
        bucket.push(call);
        this.ending.set(tick, bucket);
        if (!this.send(call)) this.waiting.push(call);
    }
    tickOf(ms) {
        return Math.ceil((ms - this.startedMs) / TICK_MS);
    }
    send(call) {
        const first = this.begun % this.connections.length;
        for(let i = 0; i < this.connections.length; i++){
            const connection = this.connections[(first + i) % this.connections.length];
            if (!connection.hasRoom(call.message)) continue;
            const leftMs = call.begunMs + call.timeoutMs - performance.now();
            call.cancel = connection.begin(call.message, Math.max(1, leftMs), (end)=>this.over(call, end));
            return true;
        }
        return false;
    }
    /** Sends what may go and ends the calls whose time is over. */ tick() {
        this.waiting = this.waiting.filter((call)=>!call.isOver && !this.send(call));
        const now = this.tickOf(performance.now());
        for(; this.ticked <= now; this.ticked++){
            for (const call of this.ending.get(this.ticked) ?? [])this.timeOut(call);
            this.ending.delete(this.ticked);
        }
        for (const connection of this.connections)connection.flush();
    }
    timeOut(call) {
        if (call.isOver) return;
        if (call.cancel === undefined) this.over(call, {
            status: CANCELLED_BY_CALLER
        });
        else call.cancel();
    }
    over(call, end) {
        if (call.isOver) return;
        call.isOver = true;
        const { outcome, begunMs, timeoutMs } = call;
        const now = performance.now();
        const ms = now - begunMs;
        if (!('status' in end)) outcome.broken += 1;
        else if (end.status === CANCELLED_BY_CALLER) {
            outcome[call.cancel === undefined ? 'unsent' : 'timedOut'] += 1;
        } else if (REFUSALS.has(end.status)) {
            outcome.refused += 1;
            this.refusedMs.push(ms);
        } else if (end.status === DEADLINE_EXCEEDED) outcome.expired += 1;
        else if (end.status !== OK) outcome.other += 1;
        else if (ms > timeoutMs) outcome.late += 1;
        else {
            outcome.good += 1;
            this.goodMs.push(ms);
            if (end.answer !== undefined) this.kept.push({
                ms,
                answer: end.answer
            });
            const second = Math.floor((now - this.startedMs) / MS_PER_SECOND);
            this.goodBySecond[second] = (this.goodBySecond[second] ?? 0) + 1;
        }
        if (this.plan.closed !== undefined && !this.isEnding) this.begin();
    }
};
process.on('message', async (plan)=>{
    const { address, connections, headers, readsTimings: keepsAnswers } = plan;
    const options = {
        ...headers && {
            headers
        },
        ...keepsAnswers && {
            keepsAnswers
        }
    };
    const opened = await Promise.all(Array.from({
        length: connections
    }, ()=>GrpcConnection.open(address, PATH, options)));
    const outcome = await new Load(plan, opened).run();
    for (const connection of opened)connection.close();
    process.send?.(outcome);
});

//# sourceMappingURL=load-process.js.map
import { AnswerForecast } from "./answer-forecast.js";
import { SharedStore } from "./block-store.js";
import { EventQueue } from "./event-queue.js";
import { LoadWindows } from "./load-windows.js";
import { stepUs } from "./model-costs.js";
import { SimulatedNode } from "./node.js";
import { Tally } from "./outcome.js";
import { policyOf } from "./policies.js";
/** One fleet and one workload; the same options give the same outcome to the bit. */ export class Simulation {
    workload;
    options;
    events = new EventQueue();
    tally = new Tally();
    windows = {
        prompts: new LoadWindows(),
        answers: new LoadWindows()
    };
    store;
    promptNodes;
    answerNodes;
    promptPolicy;
    answerPolicy;
    forecasts = new Map();
    /** Answers of nodes that answer only are foreseen together. */ forecast = new AnswerForecast();
    /** Answers that each node decodes or is about to. */ held = new Map();
    /** Complete prompts for whose answers no node has a place, in the order of their ends. */ waiting = new Set();
    flights = new Map();
    lastUs = 0;
    constructor(workload, options){
        this.workload = workload;
        this.options = options;
        const { sizes, costs, nodes, answerNodes, policy, seed } = options;
        const blocks = Math.floor(sizes.sharedBytes / (workload.blockTokens * costs.kvBytesPerToken));
        if (blocks > 0) this.store = new SharedStore(blocks, sizes.sharedBytesPerUs);
        this.promptNodes = this.made('node', nodes);
        this.answerNodes = answerNodes === 0 ? this.promptNodes : this.made('answer', answerNodes);
        this.promptPolicy = policyOf(policy, this.promptNodes, this.events, seed);
        this.answerPolicy = this.isApart ? policyOf(policy, this.answerNodes, this.events, seed + 1) : this.promptPolicy;
    }
    run() {
        const { arrivals } = this.workload;
        for (const arrival of arrivals){
            this.events.at(arrival.atUs, ()=>{
                this.tally.arrived += 1;
                this.arrive(arrival);
            });
        }
        for (const { node, atUs } of this.options.deaths){
            this.events.at(atUs, ()=>this.die(this.allNodes()[node]));
        }
        this.events.run();
        let busyUs = 0;
        for (const { engine } of this.allNodes())busyUs += engine.busyUs;
        const answerCapacity = this.answerNodes.length * this.options.answersMax;
        return this.tally.outcome({
            endUs: this.lastUs,
            lastArrivalUs: arrivals.at(-1)?.atUs ?? 0,
            busyUs,
            nodes: this.allNodes().length,
            storeReadBytes: this.store?.out.bytes ?? 0,
            storeWrittenBytes: this.store?.into.bytes ?? 0,
            prompts: {
                windows: this.windows.prompts,
                capacity: this.promptNodes.length
            },
            answers: {
                windows: this.windows.answers,
                capacity: answerCapacity
            }
        });
    }
    get isApart() {
        return this.answerNodes !== this.promptNodes;
    }
    allNodes() {
        return this.isApart ? [
            ...this.promptNodes,
            ...this.answerNodes
        ] : this.promptNodes;
    }
    made(kind, count) {
        const { events, store, windows } = this;
        const { costs, sizes, planned } = this.options;
        const { blockTokens } = this.workload;
        return Array.from({
            length: count
        }, (_, at)=>{
            const name = `${kind}-${String(at).padStart(4, '0')}`;
            const parts = {
                events,
                costs,
                sizes,
                blockTokens,
                store,
                planned,
                windows
            };
            const node = new SimulatedNode(name, parts);
            this.flights.set(node, new Set());
            this.held.set(node, 0);
            this.forecasts.set(node, new AnswerForecast());
            return node;
        });
    }
    arrive(arrival) {
        const isWhole = this.isApart && arrival.kind === 'recall' && this.isShortAtAnswerNode(arrival);
        const policy = isWhole ? this.answerPolicy : this.promptPolicy;
        const node = policy.choose(arrival);
        if (node === undefined) {
            this.tally.refused['no-node'] += 1;
            return;
        }
        const outlook = node.outlook(arrival);
        const refusal = this.refusalOf(arrival, node, outlook);
        if (refusal !== undefined) {
            this.tally.refused[refusal] += 1;
            return;
        }
        const beginsUs = this.events.nowUs + outlook.firstUs;
        const flight = {
            arrival,
            node,
            account: arrival.kind === 'append' ? undefined : this.forecastOf(node).admit(beginsUs),
            isSplit: this.isApart && arrival.kind === 'recall' && !isWhole,
            endRouting: policy.begin(node, arrival),
            isLost: false,
            holdsAnswer: false
        };
        this.flights.get(node)?.add(flight);
        this.addPrompt(flight, outlook);
    }
    /** The node that would answer lacks so little that it computes the prompt by itself. */ isShortAtAnswerNode(arrival) {
        const node = this.answerPolicy.choose(arrival);
        if (node === undefined) return false;
        const { memoryBlocks, plan } = node.outlook(arrival);
        const kept = (memoryBlocks + plan.blocks) * this.workload.blockTokens;
        return arrival.promptTokens - kept <= this.options.splitTokens;
    }
    forecastOf(node) {
        return this.isApart ? this.forecast : this.forecasts.get(node) ?? this.forecast;
    }
    /** Answers that those nodes which may answer can decode at once, and how many they have. */ places(node) {
        const able = this.isApart ? this.answerNodes.filter(({ isUp })=>isUp) : [
            node
        ];
        let taken = 0;
        for (const one of able)taken += this.held.get(one) ?? 0;
        return {
            all: able.length * this.options.answersMax,
            taken
        };
    }
    refusalOf(arrival, node, outlook) {
        const { admission, firstLimitUs } = this.options;
        if (admission === 'none' || arrival.kind === 'append') return undefined;
        if (outlook.firstUs > firstLimitUs) return 'first-step';
        if (admission === 'late') return undefined;
        const { all, taken } = this.places(node);
        if (admission === 'present') return taken >= all ? 'answers' : undefined;
        const { nowUs } = this.events;
        const beginsUs = this.forecastOf(node).beginOf(nowUs + outlook.firstUs, all, nowUs);
        return beginsUs - nowUs > firstLimitUs ? 'answers' : undefined;
    }
    addPrompt(flight, outlook) {
        const { arrival, node } = flight;
        const loadedUs = node.load(arrival, outlook);
        const kept = outlook.memoryBlocks + outlook.plan.blocks;
        let begunUs = 0;
        const prompt = {
            kind: arrival.kind,
            workUs: outlook.computeUs,
            isLoaded: loadedUs <= this.events.nowUs,
            onBegin: ()=>{
                begunUs = this.events.nowUs;
                this.countTokens(arrival, outlook, node.memoryBlocks(arrival));
                return node.computeUs(arrival, kept);
            },
            onEnd: ()=>this.promptEnds(flight, begunUs)
        };
        node.engine.addPrompt(prompt);
        if (!prompt.isLoaded) {
            this.events.at(loadedUs, ()=>{
                if (!flight.isLost) node.engine.loaded(prompt);
            });
        }
    }
    countTokens(arrival, { memoryBlocks, missing, plan }, now) {
        const { tokens } = this.tally;
        const { blockTokens } = this.workload;
        const loaded = missing.slice(0, plan.blocks);
        const shared = loaded.filter((tier)=>tier === 'shared').length;
        // Blocks that another request has computed since are in memory without a load.
        const kept = Math.max(memoryBlocks + plan.blocks, now);
        tokens.shared += shared * blockTokens;
        tokens.disk += (loaded.length - shared) * blockTokens;
        tokens.memory += (kept - loaded.length) * blockTokens;
        tokens.computed += arrival.promptTokens - kept * blockTokens;
    }
    promptEnds(flight, begunUs) {
        const { arrival, node, account } = flight;
        node.keep(arrival);
        if (account === undefined) {
            this.tally.appended += 1;
            this.leave(flight);
            return;
        }
        const waiting = {
            flight,
            account,
            begunUs
        };
        if (this.takesPlace(waiting)) return;
        this.waiting.add(waiting);
        // A place that becomes free later would be too late for the first step.
        this.events.at(Math.max(this.events.nowUs, arrival.atUs + this.options.firstLimitUs), ()=>{
            if (this.waiting.delete(waiting) && !flight.isLost) this.refuseLate(waiting, 'wasted');
        });
    }
    refuseLate({ flight, account }, refusal) {
        this.tally.refused[refusal] += 1;
        account.drop();
        this.leave(flight);
    }
    /** False while no node has a place. */ takesPlace(waiting) {
        const { flight, account, begunUs } = waiting;
        const { arrival, node } = flight;
        const answering = flight.isSplit ? this.leastHeld() : node;
        if (answering === undefined) {
            this.refuseLate(waiting, 'no-node');
            return true;
        }
        const isFull = this.heldBy(answering) >= this.options.answersMax;
        if (isFull && this.options.admission !== 'none') return false;
        flight.holdsAnswer = true;
        this.held.set(answering, this.heldBy(answering) + 1);
        if (answering === node) {
            this.beginAnswer(flight, account);
            return true;
        }
        this.leave(flight);
        flight.node = answering;
        flight.endRouting = ()=>undefined;
        this.flights.get(answering)?.add(flight);
        // Layers go over while those behind them are still computed.
        const bytes = arrival.blocks.length * node.blockBytes;
        this.events.at(answering.link.carry(bytes, begunUs), ()=>{
            if (!flight.isLost) this.beginAnswer(flight, account);
        });
        return true;
    }
    /** A place has become free: the first that may have it takes it. */ placesFreed() {
        for (const waiting of this.waiting){
            if (waiting.flight.isLost || this.takesPlace(waiting)) this.waiting.delete(waiting);
        }
    }
    heldBy(node) {
        return this.held.get(node) ?? 0;
    }
    leastHeld() {
        let best;
        for (const node of this.answerNodes){
            if (!node.isUp) continue;
            if (best === undefined || this.heldBy(node) < this.heldBy(best)) best = node;
        }
        return best;
    }
    beginAnswer(flight, account) {
        const { arrival, node } = flight;
        const { nowUs } = this.events;
        account.begin(nowUs);
        const isCounted = arrival.atUs >= this.options.warmUpUs;
        if (isCounted) this.tally.firstUs.push(nowUs - arrival.atUs);
        node.engine.addAnswer({
            steps: arrival.steps,
            stepUs: stepUs(this.options.costs, arrival.promptTokens + arrival.steps / 2),
            onEnd: ()=>{
                account.end(this.events.nowUs);
                this.held.set(node, this.heldBy(node) - 1);
                this.tally.answered += 1;
                if (isCounted) this.tally.answerUs.push(this.events.nowUs - arrival.atUs);
                this.leave(flight);
                this.placesFreed();
            }
        });
    }
    /** The request has no more to do with its node. */ leave(flight) {
        this.lastUs = this.events.nowUs;
        this.flights.get(flight.node)?.delete(flight);
        flight.endRouting();
    }
    /** Users of the node go to its successors, and what was under way begins again there. */ die(node) {
        if (node === undefined || !node.isUp) return;
        node.stop();
        this.promptPolicy.lost(node);
        this.answerPolicy.lost(node);
        const lost = [
            ...this.flights.get(node) ?? []
        ];
        this.held.set(node, 0);
        for (const flight of lost){
            flight.isLost = true;
            flight.account?.drop();
            this.leave(flight);
        }
        for (const { arrival } of lost){
            this.tally.repeated += 1;
            this.arrive(arrival);
        }
    }
}

//# sourceMappingURL=simulation.js.map
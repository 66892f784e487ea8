import { LeastFirst } from "./least-first.js";
/** Part of a pass's prompt rows that the oldest prompt has, whatever its class. */ const OLDEST_SHARE = 0.25;
/** Of prompts in a pass, however long its other rows take. */ const LEAST_PROMPT_ROWS = 16;
const PASS_TARGET_US = 5000;
const PASS_FIXED_MAX = 16;
/** Less is nothing, microseconds or steps: sums of doubles end a little beside it. */ const NOTHING = 1e-6;
/**
 * The engine of a node as its passes go (docs/internals/scheduler.md), in the limit of many small
 * ones: each has a step of every answer and a chunk of prompts, and lasts as long as the rule of
 * passes lets it. Prompts of recalls go first in, first out; those of appends have a quarter beside
 * them. Between two events all rates stand still.
 */ export class NodeEngine {
    events;
    costs;
    windows;
    lanes = {
        recall: {
            waiting: [],
            serving: undefined
        },
        append: {
            waiting: [],
            serving: undefined
        }
    };
    /** By the step, counted from the node's start, at which they end. */ answers = new LeastFirst();
    stepsDone = 0;
    stepsUs = 0;
    waitingUs = 0;
    atUs = 0;
    version = 0;
    busyUs = 0;
    constructor(events, costs, windows){
        this.events = events;
        this.costs = costs;
        this.windows = windows;
    }
    get running() {
        return this.answers.size;
    }
    /** Work of all prompts that have not ended. */ backlogUs() {
        this.progress();
        return this.waitingUs + this.servedUs();
    }
    addPrompt(prompt) {
        this.progress();
        this.lanes[prompt.kind].waiting.push(prompt);
        this.waitingUs += prompt.workUs;
        this.goOn();
    }
    loaded(prompt) {
        this.progress();
        prompt.isLoaded = true;
        this.goOn();
    }
    addAnswer(answer) {
        this.progress();
        this.stepsUs += answer.stepUs;
        this.answers.add(this.stepsDone + answer.steps, answer);
        this.goOn();
    }
    /** Nothing that is here ends any more. */ stop() {
        this.progress();
        this.version += 1;
        for (const lane of Object.values(this.lanes)){
            lane.waiting.length = 0;
            lane.serving = undefined;
        }
        while(this.answers.take() !== undefined);
        this.stepsUs = 0;
        this.waitingUs = 0;
    }
    servedUs() {
        const { recall, append } = this.lanes;
        return (recall.serving?.workUs ?? 0) + (append.serving?.workUs ?? 0);
    }
    /** Shares of the engine for prompts, and steps a microsecond. */ rates() {
        const recall = this.lanes.recall.serving === undefined ? 0 : 1;
        const append = this.lanes.append.serving === undefined ? 0 : 1;
        const count = this.answers.size;
        const both = recall + append === 2;
        const [ofRecall, ofAppend] = both ? [
            1 - OLDEST_SHARE,
            OLDEST_SHARE
        ] : [
            recall,
            append
        ];
        if (count === 0) return {
            recall: ofRecall,
            append: ofAppend,
            steps: 0
        };
        const stepUs = this.costs.passUs + this.stepsUs;
        if (recall + append === 0) return {
            recall: 0,
            append: 0,
            steps: 1 / stepUs
        };
        const targetUs = Math.max(PASS_TARGET_US, PASS_FIXED_MAX * this.costs.passUs);
        const least = stepUs + LEAST_PROMPT_ROWS * this.costs.tokenUs;
        const passUs = Math.max(least, targetUs * Math.sqrt(count + recall + append));
        const share = (passUs - stepUs) / passUs;
        return {
            recall: ofRecall * share,
            append: ofAppend * share,
            steps: 1 / passUs
        };
    }
    progress() {
        const { nowUs } = this.events;
        const us = nowUs - this.atUs;
        if (us <= 0) return;
        const rates = this.rates();
        const { recall, append } = this.lanes;
        if (recall.serving !== undefined) recall.serving.workUs -= us * rates.recall;
        if (append.serving !== undefined) append.serving.workUs -= us * rates.append;
        this.stepsDone += us * rates.steps;
        const hasPrompt = recall.serving !== undefined || append.serving !== undefined;
        if (hasPrompt || this.answers.size > 0) this.busyUs += us;
        if (hasPrompt) this.windows.prompts.add(this.atUs, nowUs, 1);
        this.windows.answers.add(this.atUs, nowUs, this.answers.size);
        this.atUs = nowUs;
    }
    /** Begins what may begin, and waits for the first end. */ goOn() {
        for (const lane of Object.values(this.lanes))this.begin(lane);
        const rates = this.rates();
        const { recall, append } = this.lanes;
        const ends = [
            recall.serving === undefined ? Number.POSITIVE_INFINITY : recall.serving.workUs / rates.recall,
            append.serving === undefined ? Number.POSITIVE_INFINITY : append.serving.workUs / rates.append,
            this.answers.size === 0 ? Number.POSITIVE_INFINITY : (this.answers.leastKey - this.stepsDone) / rates.steps
        ];
        this.version += 1;
        const { version } = this;
        const us = Math.max(0, Math.min(...ends));
        if (!Number.isFinite(us)) return;
        this.events.at(this.events.nowUs + us, ()=>{
            if (version === this.version) this.end();
        });
    }
    begin(lane) {
        if (lane.serving !== undefined) return;
        const at = lane.waiting.findIndex(({ isLoaded })=>isLoaded);
        const [prompt] = at < 0 ? [] : lane.waiting.splice(at, 1);
        if (prompt === undefined) return;
        this.waitingUs = Math.max(0, this.waitingUs - prompt.workUs);
        prompt.workUs = prompt.onBegin();
        lane.serving = prompt;
    }
    end() {
        this.progress();
        const ended = [];
        for (const lane of Object.values(this.lanes)){
            if (lane.serving === undefined || lane.serving.workUs > NOTHING) continue;
            ended.push(lane.serving.onEnd);
            lane.serving = undefined;
        }
        while(this.answers.leastKey - this.stepsDone <= NOTHING){
            const answer = this.answers.take();
            if (answer === undefined) break;
            this.stepsUs = this.answers.size === 0 ? 0 : this.stepsUs - answer.stepUs;
            ended.push(answer.onEnd);
        }
        this.goOn();
        for (const act of ended)act();
    }
}

//# sourceMappingURL=node-engine.js.map
import { MILLISECONDS_PER_SECOND } from "../../../ops/units/src/index.js";
import { AnswerRate } from "./answer-rate.js";
import { CLASS_COUNT, classShares } from "./class-shares.js";
import { Margin } from "./margin.js";
/** Rates are measured in windows of this length. */ const WINDOW_MS = 100;
/** Calls in flight, all the time, that make a window one with a backlog: it shows the capacity. */ const BACKLOG_MIN = 8;
/** A caller that gives up after this part of its time would have got a late answer. */ const GIVEN_UP_SHARE = 0.9;
/**
 * Classes may begin hardly more than is answered. Were it much more, calls would wait until the
 * next is refused for want of time, and that holds back most the class that is to be admitted most.
 */ const SLACK = 1.02;
/**
 * Classes take turns where so much of a call's time would go by with waiting. Below that everybody
 * is let in, or a rate that was measured too low would stay low.
 */ const QUEUED_SHARE = 0.25;
/** The part of what is asked for that the other classes ask at least where one takes turns. */ const ASKING_MIN = 1e-3;
/**
 * Predicts if a call that arrives can be answered in time, by what the whole process does: calls in
 * flight over the rate of answers (Little's law), which the event loop, the stores or the engine
 * may limit. The engine judges by itself what it is given, more exactly; this keeps from the event
 * loop what would die there. The rate is learned while there is a backlog; before the first one
 * everything is admitted. A margin corrects the prediction (as scheduler::Punctuality does in the
 * engine). Pure but for its clock.
 */ export class AnswerLimit {
    nowMs;
    /** Calls that were admitted and have not ended. */ count = 0;
    offered = new Array(CLASS_COUNT).fill(0);
    offeredRates = new Array(CLASS_COUNT).fill(0);
    answerRate = new AnswerRate();
    /** While more is asked for than can be answered: parts of the rate by class. Else undefined. */ shares;
    /** Calls that each class may still begin, by its part of the rate. */ credits = new Array(CLASS_COUNT).fill(0);
    creditedMs;
    windowStartMs;
    answered = 0;
    leastInFlight = 0;
    hadBacklog = false;
    /**
   * While more is asked for than can be answered those who come later make those before them take
   * longer; what is learned of it holds for the next time.
   */ margins = {
        calm: new Margin(),
        busy: new Margin()
    };
    constructor(nowMs = ()=>performance.now()){
        this.nowMs = nowMs;
        this.windowStartMs = nowMs();
        this.creditedMs = this.windowStartMs;
    }
    /** Calls that have a place. */ get inFlight() {
        return this.count;
    }
    /** A place for a call whose request is there as a whole. Infinity: it has no deadline. */ admit(cls, budgetMs) {
        const now = this.roll();
        this.offered[cls] = (this.offered[cls] ?? 0) + 1;
        const refused = this.judge(cls, budgetMs, now);
        if (refused !== undefined) return refused;
        this.charge(cls);
        this.count += 1;
        const admitted = {
            admittedMs: now,
            budgetMs,
            margin: this.margin,
            isRefused: false
        };
        let hasEnded = false;
        return {
            noteRefused: ()=>{
                admitted.isRefused = true;
            },
            end: (isAnswered)=>{
                if (!hasEnded) this.end(admitted, isAnswered);
                hasEnded = true;
            }
        };
    }
    /** Milliseconds that a further call needs, the margin included; 0: it would run alone. */ get neededMs() {
        if (this.count === 0) return 0;
        return (this.count + 1) * MILLISECONDS_PER_SECOND / this.capacity * this.margin.value;
    }
    /** The refusal of a call whose request is still to come, if it came now. Takes no place. */ refuses(cls, budgetMs) {
        const refused = this.judge(cls, budgetMs, this.roll());
        if (refused !== undefined) this.offered[cls] = (this.offered[cls] ?? 0) + 1;
        return refused;
    }
    judge(cls, budgetMs, now) {
        // A call that runs alone is the engine's to judge.
        if (this.count === 0) return undefined;
        const { neededMs } = this;
        if (neededMs > budgetMs) return {
            retryAfterMs: neededMs - budgetMs
        };
        const turnMs = this.untilTurnMs(cls, now);
        const isTurnWanted = turnMs > 0 && neededMs > budgetMs * QUEUED_SHARE;
        return isTurnWanted ? {
            retryAfterMs: turnMs
        } : undefined;
    }
    end({ admittedMs, budgetMs, margin, isRefused }, isAnswered) {
        const now = this.roll();
        this.count -= 1;
        this.leastInFlight = Math.min(this.leastInFlight, this.count);
        if (isAnswered && !isRefused) this.answered += 1;
        const tookMs = now - admittedMs;
        const isLate = tookMs > budgetMs * (isAnswered ? 1 : GIVEN_UP_SHARE);
        if (isLate) margin.raise(admittedMs, now);
    }
    /** Milliseconds that a call waits which arrives now; 0 where nothing is known of it. */ get waitMs() {
        return this.count * MILLISECONDS_PER_SECOND / this.capacity * this.margin.value;
    }
    /** Answers a second that the process is good for; Infinity before it was seen. */ get capacity() {
        return this.answerRate.perSecond;
    }
    /** When the class has a credit again; 0: it has one, or no other class asks. */ untilTurnMs(cls, now) {
        if (this.shares === undefined || !this.othersAsk(cls)) return 0;
        const ms = now - this.creditedMs;
        this.creditedMs = now;
        for (const [one, credit] of this.credits.entries()){
            const perMs = this.creditsPerMs(one);
            this.credits[one] = Math.min(credit + ms * perMs, 1 + WINDOW_MS * perMs);
        }
        const credit = this.credits[cls] ?? 0;
        return credit < 1 ? (1 - credit) / this.creditsPerMs(cls) : 0;
    }
    othersAsk(cls) {
        const all = this.offeredRates.reduce((sum, rate)=>sum + rate, 0);
        return all - (this.offeredRates[cls] ?? 0) > ASKING_MIN * all;
    }
    /** A class that is let in without a turn, since little waits, has it less for a while. */ charge(cls) {
        if (this.shares === undefined) return;
        const least = -WINDOW_MS * this.creditsPerMs(cls);
        this.credits[cls] = Math.max(least, (this.credits[cls] ?? 0) - 1);
    }
    creditsPerMs(cls) {
        return (this.shares?.[cls] ?? 1) * this.capacity * SLACK / MILLISECONDS_PER_SECOND;
    }
    get margin() {
        return this.shares === undefined ? this.margins.calm : this.margins.busy;
    }
    /** Closes the window where it is over. The time. */ roll() {
        const now = this.nowMs();
        const seconds = (now - this.windowStartMs) / MILLISECONDS_PER_SECOND;
        if (seconds * MILLISECONDS_PER_SECOND < WINDOW_MS) return now;
        const window = {
            ms: seconds * MILLISECONDS_PER_SECOND,
            answered: this.answered
        };
        const hasBacklog = this.leastInFlight >= BACKLOG_MIN;
        // The end of a backlog belongs to it, unless the process was idle afterwards: a batch that ends
        // it is what the calls waited for.
        const isItsEnd = this.hadBacklog && window.ms < 2 * WINDOW_MS;
        this.answerRate.note(window, hasBacklog || isItsEnd);
        this.hadBacklog = hasBacklog;
        if (this.answered > 0) this.margin.lower(now, this.answered);
        this.offeredRates = this.offered.map((count, cls)=>((this.offeredRates[cls] ?? 0) + count / seconds) / 2);
        this.shares = this.sharesNow();
        this.offered.fill(0);
        this.answered = 0;
        this.leastInFlight = this.count;
        this.windowStartMs = now;
        return now;
    }
    sharesNow() {
        const asked = this.offeredRates.reduce((sum, rate)=>sum + rate, 0);
        if (asked <= this.capacity) return undefined;
        return classShares(this.offeredRates, this.capacity);
    }
}

//# sourceMappingURL=answer-limit.js.map
/** How a canary is compared with what serves everybody else: docs/operate/adapter-versions.md. */ import { clickRate, clickVerdict } from "./click-rates.js";
const LATENCIES_KEPT = 1024;
/** Differences below are the machine's, not the version's. */ const LATENCY_NOISE_MS = 5;
const PERCENT = 100;
const MILLI = 1000;
const TAIL = 0.95;
/** Observations of one version's recalls. */ let ArmRecord = class ArmRecord {
    counts = {
        answers: 0,
        failures: 0,
        emptyAnswers: 0,
        shortAnswers: 0
    };
    /** The newest, in a ring. */ latencies = [];
    clicks = 0;
    clickScores = 0;
    userAnswers = 0;
    clickedAnswers = 0;
    answered({ items, isShort, ms, isOfUser }) {
        if (isOfUser) this.userAnswers += 1;
        this.latencies[this.counts.answers % LATENCIES_KEPT] = ms;
        this.counts.answers += 1;
        if (items === 0) this.counts.emptyAnswers += 1;
        if (isShort) this.counts.shortAnswers += 1;
    }
    failed() {
        this.counts.failures += 1;
    }
    /** @param isFirst of the answer */ clicked(score, isFirst) {
        this.clicks += 1;
        if (isFirst) this.clickedAnswers += 1;
        this.clickScores += score;
    }
    get asked() {
        return this.counts.answers + this.counts.failures;
    }
    /** Percent of all that were asked. */ shareOf(what) {
        return this.asked === 0 ? 0 : PERCENT * this.counts[what] / this.asked;
    }
    get summary() {
        const sorted = [
            ...this.latencies
        ].sort((a, b)=>a - b);
        const at = (part)=>sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
        return {
            ...this.counts,
            latencyP50Ms: at(0.5),
            latencyP95Ms: at(TAIL),
            clicks: this.clicks,
            clickScore: this.clicks === 0 ? 0 : this.clickScores / this.clicks,
            clickRate: clickRate(this.clickedAnswers, this.userAnswers)
        };
    }
};
/** Share of items that two answers have in common, of the longer one; 1 for two empty answers. */ export function overlapOf(a, b) {
    const longer = Math.max(a.length, b.length);
    if (longer === 0) return 1;
    const others = new Set(b);
    return a.filter((item)=>others.has(item)).length / longer;
}
/** A canary and the version beside it, from the canary's start on. */ export class CanaryComparison {
    canary = new ArmRecord();
    active = new ArmRecord();
    shadowed = 0;
    overlaps = 0;
    /** Both versions answered the same recall. */ shadow(overlap) {
        this.shadowed += 1;
        this.overlaps += overlap;
    }
    get overlap() {
        return this.shadowed === 0 ? 0 : this.overlaps / this.shadowed;
    }
    get summary() {
        const { shadowed, overlap } = this;
        const [canary, active] = [
            this.canary.summary,
            this.active.summary
        ];
        const verdict = clickVerdict(canary.clickRate, active.clickRate);
        return {
            canary,
            active,
            shadowed,
            overlap,
            clickVerdict: verdict
        };
    }
    /** The first rule that is broken; undefined: none, or too few samples to say so. */ fault(rules) {
        const broken = this.verdicts(rules).find(({ isBroken })=>isBroken);
        return broken && {
            rule: broken.rule,
            message: broken.message
        };
    }
    /** The rules' verdicts now, in the order in which they count. */ verdicts(rules) {
        const { canary: ours, active: theirs } = this.summary;
        const { samplesMin } = rules;
        const both = (count)=>Math.min(count(ours), count(theirs));
        const drafts = [
            this.excess('failures', rules.failureMaxPercent),
            this.excess('emptyAnswers', rules.emptyMaxPercent),
            this.excess('shortAnswers', rules.shortMaxPercent),
            this.overlapped(rules),
            {
                ...slowness(ours, theirs, rules),
                samples: both(askedOf)
            },
            {
                ...liking(ours, theirs, rules),
                samples: both(({ clicks })=>clicks)
            }
        ];
        return drafts.map((draft)=>({
                ...draft,
                samplesMin,
                isBroken: draft.samples >= samplesMin && isBeyond(draft)
            }));
    }
    excess(rule, most) {
        const [ours, theirs] = [
            this.canary.shareOf(rule),
            this.active.shareOf(rule)
        ];
        const limit = `at most ${most} percent points above ${theirs.toFixed(1)} %`;
        const message = `${rule}: expected ${limit}, got ${ours.toFixed(1)} %`;
        const samples = this.canary.asked;
        return {
            rule,
            bound: 'most',
            limit: theirs + most,
            observed: ours,
            unit: '%',
            samples,
            message
        };
    }
    overlapped({ overlapMinPercent: limit }) {
        const observed = PERCENT * this.overlap;
        const expected = `at least ${limit} % of the items of the active version`;
        const message = `overlap: expected ${expected}, got ${observed.toFixed(1)} %`;
        const samples = this.shadowed;
        return {
            rule: 'overlap',
            bound: 'least',
            limit,
            observed,
            unit: '%',
            samples,
            message
        };
    }
}
const askedOf = ({ answers, failures })=>answers + failures;
function isBeyond({ bound, limit, observed }) {
    return bound === 'most' ? observed > limit : observed < limit;
}
function slowness({ latencyP95Ms: observed }, { latencyP95Ms: theirs }, { latencyMaxPercent }) {
    const limit = Math.max(theirs * latencyMaxPercent / PERCENT, theirs + LATENCY_NOISE_MS);
    const message = `latency: expected at most ${limit.toFixed(1)} ms, got ${observed.toFixed(1)} ms`;
    return {
        rule: 'latency',
        bound: 'most',
        limit,
        observed,
        unit: 'ms',
        message
    };
}
function liking({ clickScore: observed }, { clickScore: theirs }, { clickDropMax }) {
    const limit = theirs - clickDropMax / MILLI;
    const expected = `at least ${limit.toFixed(3)}`;
    const message = `score of clicked items: expected ${expected}, got ${observed.toFixed(3)}`;
    return {
        rule: 'clicks',
        bound: 'least',
        limit,
        observed,
        unit: 'nats',
        message
    };
}

//# sourceMappingURL=canary-comparison.js.map
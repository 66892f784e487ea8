import { TesseraError } from "../../../ops/errors/src/index.js";
import { CanaryComparison, overlapOf } from "./domain/canary-comparison.js";
/** Users whose newest answer is kept, to know what a behaviour follows. */ const ANSWERS_KEPT = 8192;
/** Items of such an answer. */ const ANSWER_ITEMS_KEPT = 100;
/**
 * Of so many recalls of a canary the active version answers one as well, in the background: enough
 * to notice a change, and a tenth of the work. Until there are enough to judge, it answers all.
 */ const SHADOWED_ONE_IN = 10;
/** Failures that are the version's own. */ const OWN_FAULTS = new Set([
    'MODEL_NOT_FINITE',
    'INTERNAL'
]);
/** Compares every canary with the version beside it while both serve. */ export class CanaryWatch {
    registry;
    settings;
    onFault;
    /** By name. */ watched = new Map();
    /** By name and user, a blank between them, which no name has. */ answers = new Map();
    constructor(registry, settings, /** Told once of each canary that breaks a rule. */ onFault){
        this.registry = registry;
        this.settings = settings;
        this.onFault = onFault;
    }
    observe(lease, seen) {
        const canary = this.registry.canary(lease.name);
        if (canary === undefined || lease.arm === 'named') return;
        const watched = this.of(canary);
        const arm = lease.arm === 'canary' ? 'canary' : 'active';
        // A canary of the name that has gone meanwhile.
        if (arm === 'canary' && lease.adapter?.digest !== canary.digest) return;
        const record = watched.comparison[arm];
        const { outcome, ms } = seen;
        if (outcome instanceof TesseraError) {
            if (OWN_FAULTS.has(outcome.code)) record.failed();
        } else {
            const isOfUser = seen.userId !== undefined;
            record.answered({
                items: outcome.items.length,
                isShort: outcome.isShort,
                ms,
                isOfUser
            });
            this.keep(canary.name, arm, seen.userId, outcome);
            if (arm === 'canary') this.shadow(canary, watched, seen, outcome);
        }
        this.decide(canary, watched);
    }
    /** A behaviour with an item: it may follow an answer that had it. */ clicked(userId, itemId) {
        for (const canary of this.registry.canaries()){
            const kept = this.answers.get(`${canary.name} ${userId}`);
            const score = kept?.scores.get(itemId);
            if (kept === undefined || score === undefined) continue;
            const watched = this.of(canary);
            watched.comparison[kept.arm].clicked(score, !kept.isClicked);
            kept.isClicked = true;
            this.decide(canary, watched);
        }
    }
    summaryOf({ name, digest }) {
        const watched = this.watched.get(name);
        return watched?.digest === digest ? watched.comparison.summary : undefined;
    }
    reportOf({ name, digest }) {
        const watched = this.watched.get(name);
        if (watched?.digest !== digest) return undefined;
        return watched.broken ?? this.report(watched);
    }
    report({ comparison }) {
        return {
            summary: comparison.summary,
            verdicts: comparison.verdicts(this.settings.rules)
        };
    }
    of({ name, digest }) {
        const known = this.watched.get(name);
        if (known?.digest === digest) return known;
        for (const [key, kept] of this.answers){
            if (kept.name === name) this.answers.delete(key);
        }
        const comparison = new CanaryComparison();
        const fresh = {
            digest,
            comparison,
            recalls: 0,
            isShadowing: false,
            broken: undefined
        };
        this.watched.set(name, fresh);
        return fresh;
    }
    keep(name, arm, userId, { items }) {
        if (userId === undefined) return;
        const kept = items.slice(0, ANSWER_ITEMS_KEPT);
        const scores = new Map(kept.map(({ itemId, score })=>[
                itemId,
                score
            ]));
        const key = `${name} ${userId}`;
        this.answers.delete(key);
        this.answers.set(key, {
            name,
            arm,
            scores,
            isClicked: false
        });
        if (this.answers.size <= ANSWERS_KEPT) return;
        const [oldest] = this.answers.keys();
        if (oldest !== undefined) this.answers.delete(oldest);
    }
    /** One at a time: what waits would only grow where the engine has no time to spare. */ shadow(canary, watched, { again }, { items }) {
        const { samplesMin } = this.settings.rules;
        watched.recalls += 1;
        const isDue = watched.comparison.shadowed < samplesMin || watched.recalls % SHADOWED_ONE_IN === 0;
        if (!isDue || watched.isShadowing) return;
        const active = this.registry.active(canary.name);
        const held = active && this.registry.loaded.hold(active);
        if (active !== undefined && held === undefined) return;
        watched.isShadowing = true;
        again(held?.served).then((answer)=>{
            const ours = items.map(({ itemId })=>itemId);
            watched.comparison.shadow(overlapOf(ours, answer.itemIds));
            this.decide(canary, watched);
        })// Whatever keeps the active version from it says nothing of the canary.
        .catch(()=>undefined).finally(()=>{
            held?.release();
            watched.isShadowing = false;
        });
    }
    decide(canary, watched) {
        if (watched.broken !== undefined || this.watched.get(canary.name) !== watched) return;
        const fault = watched.comparison.fault(this.settings.rules);
        if (fault === undefined) return;
        watched.broken = this.report(watched);
        this.onFault(canary, fault);
    }
}

//# sourceMappingURL=canary-watch.js.map
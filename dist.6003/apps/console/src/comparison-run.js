import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { certificateOf } from "../../../libs/service/recall/src/index.js";
import { AttributeCounts, compareAnswers } from "./domain/compare.js";
/** Both sides asked for each user: progress, users and their sum, line by line. */ export class ComparisonRun {
    runtime;
    left;
    right;
    sum = new ComparisonSum();
    constructor(runtime, left, right){
        this.runtime = runtime;
        this.left = left;
        this.right = right;
    }
    /** Ends early, without the sum, where the signal of the left side is aborted. */ async *lines(users) {
        for (const [done, userId] of users.entries()){
            if (this.left.context.signal.aborted) return;
            yield {
                kind: 'progress',
                done,
                total: users.length
            };
            yield await this.line(userId);
        }
        yield this.sum.line();
    }
    async line(userId) {
        const ask = ({ requestFor, context })=>this.runtime.serving.recall(requestFor(userId), context);
        try {
            const [left, right] = await Promise.all([
                ask(this.left),
                ask(this.right)
            ]);
            const comparison = compareAnswers(left.items, right.items);
            this.sum.add(comparison);
            this.countAttributes(left, right);
            const certificates = {
                left: certificateOf(left.search, left),
                right: certificateOf(right.search, right)
            };
            return {
                kind: 'user',
                userId,
                ...comparison,
                certificates
            };
        } catch (thrown) {
            this.sum.failed += 1;
            return {
                kind: 'failed',
                userId,
                message: TesseraError.from(thrown).message
            };
        }
    }
    countAttributes(left, right) {
        for (const [side, { items }] of [
            [
                'left',
                left
            ],
            [
                'right',
                right
            ]
        ]){
            const described = this.runtime.facts.describe(items.map(({ itemId })=>itemId));
            for (const item of described){
                if (item !== undefined) {
                    this.sum.attributes.add(side, JSON.parse(item.attributes));
                }
            }
        }
    }
}
/** The comparisons of all users as one. */ let ComparisonSum = class ComparisonSum {
    failed = 0;
    attributes = new AttributeCounts();
    users = 0;
    overlap = 0;
    rankShift = 0;
    gained = 0;
    lost = 0;
    add({ overlap, rankShift, gained, lost }) {
        this.users += 1;
        this.overlap += overlap;
        this.rankShift += rankShift;
        this.gained += gained;
        this.lost += lost;
    }
    line() {
        const { users, failed, gained, lost } = this;
        const mean = (sum)=>users === 0 ? 0 : sum / users;
        return {
            kind: 'summary',
            id: '',
            users,
            failed,
            overlap: mean(this.overlap),
            rankShift: mean(this.rankShift),
            gained,
            lost,
            attributes: this.attributes.distribution()
        };
    }
};

//# sourceMappingURL=comparison-run.js.map
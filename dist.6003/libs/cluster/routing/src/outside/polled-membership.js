import { TesseraError } from "../../../../ops/errors/src/index.js";
import { isSameMembers, possibleMembers } from "../domain/members.js";
const LOOK_EVERY_MS = 500;
/** A source that suddenly knows less than half of the members has to say so this often. */ const LOOKS_AT_LOSS = 4;
const SKIPPED_SHOWN_MAX = 10;
/** Members that are asked for every half second, of whatever knows them. */ export class PolledMembership {
    source;
    ask;
    everyMs;
    members = [];
    timer;
    fault = '';
    /** Why entries of the source are no members. */ skipped = [];
    isLooking = false;
    /** Looks in a row that found less than half of the members. */ losses = 0;
    /**
   * @param ask gives the members as the source has them now, and skips what is none with the
   * reason; rejects where the source is away
   */ constructor(source, ask, everyMs = LOOK_EVERY_MS){
        this.source = source;
        this.ask = ask;
        this.everyMs = everyMs;
    }
    async start(onMembers) {
        await onMembers(this.members);
        await this.look(onMembers);
        this.timer = setInterval(()=>void this.look(onMembers), this.everyMs);
        this.timer.unref();
    }
    reading() {
        if (this.fault !== '') {
            const reason = `${this.source}: ${this.fault}; the last table serves on`;
            return {
                state: 'degraded',
                reason
            };
        }
        if (this.skipped.length === 0) return {
            state: 'ok',
            reason: ''
        };
        const reason = `${this.source}: no members: ${this.skipped.join('; ')}`;
        return {
            state: 'degraded',
            reason
        };
    }
    close() {
        clearInterval(this.timer);
    }
    async look(onMembers) {
        if (this.isLooking) return;
        this.isLooking = true;
        try {
            const skipped = [];
            const skip = (thrown)=>skipped.push(TesseraError.from(thrown).message);
            const members = possibleMembers(await this.ask(skip), this.source, skip);
            this.skipped = skipped.slice(0, SKIPPED_SHOWN_MAX);
            this.checkLoss(members);
            if (!isSameMembers(members, this.members)) {
                await onMembers(members);
                this.members = members;
            }
            this.fault = '';
        } catch (thrown) {
            this.fault = TesseraError.from(thrown).message;
        } finally{
            this.isLooking = false;
        }
    }
    /**
   * A source that lost what it knew, or let all leases end at once, knows nobody for a moment while
   * the nodes serve on. No member at all is never believed: a table without nodes serves nobody.
   */ checkLoss(members) {
        const isLoss = members.length * 2 < this.members.length;
        this.losses = isLoss ? this.losses + 1 : 0;
        if (!isLoss || members.length > 0 && this.losses > LOOKS_AT_LOSS) return;
        throw new Error(`expected most of ${this.members.length} nodes, got ${members.length}`);
    }
}

//# sourceMappingURL=polled-membership.js.map
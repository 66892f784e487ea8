import { randomUUID } from "node:crypto";
import { markOf, positionOf } from "../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { LEASE_MS, NO_OFFSET } from "../../log/src/index.js";
import { ERASE } from "./domain/erasure.js";
import { History } from "./domain/history.js";
import { Life } from "./domain/life.js";
import { startOf } from "./domain/position.js";
import { ReplicatedState } from "./domain/replicated-state.js";
import { NodeErasures } from "./erasures.js";
import { BEHIND_MAX, Follower } from "./follower.js";
import { Publication } from "./publication.js";
import { Reached } from "./reached.js";
import { Snapshots } from "./snapshots.js";
import { BEGINS, newestSnapshot } from "./snapshots-there.js";
import { Standing, untilBegun, untilThere } from "./standing.js";
import { Submissions } from "./submissions.js";
/** Times that a node begins anew: with the newest snapshot, of a log that goes on meanwhile. */ const ATTEMPTS = 3;
const REACHED_EVERY_MS = 1000;
/**
 * A node of a cluster: its state follows the log, and all changes of it go through the log. Owner
 * of all that follows it; closed by the drain.
 */ export class ClusterNode {
    options;
    life;
    reached;
    follower;
    publication;
    submissions;
    erasures;
    timer;
    constructor(options, life, reached, follower, publication, submissions, erasures){
        this.options = options;
        this.life = life;
        this.reached = reached;
        this.follower = follower;
        this.publication = publication;
        this.submissions = submissions;
        this.erasures = erasures;
    }
    /**
   * Brings a node with the whole state to where the log is. A state that entries cannot go on from
   * is put aside, and that of a snapshot loaded in its place. Rejects with LOG_DIFFERENT, and as
   * loading does.
   */ static async join(options, folders, load, contentOf) {
        const reached = new Reached(options.store, options.cluster);
        let wanted = {
            isAnew: false,
            offset: NO_OFFSET
        };
        for(let attempt = 1;; attempt += 1){
            const life = new Life();
            const standing = await Standing.take({
                ...options,
                folders,
                reached,
                life
            }, wanted);
            const runtime = await load();
            const content = contentOf(runtime, standing.identity);
            try {
                const parts = {
                    options,
                    folders,
                    life,
                    reached,
                    standing,
                    content
                };
                return {
                    runtime,
                    clusterNode: await ClusterNode.joinWhole(parts)
                };
            } catch (thrown) {
                const applied = positionOf(content.keeper.mark())?.offset ?? NO_OFFSET;
                await runtime.close();
                const { code } = TesseraError.from(thrown);
                const isMended = code === 'LOG_TRIMMED' || code === 'LOG_INCOMPLETE';
                if (!isMended || attempt === ATTEMPTS) throw thrown;
                // Any snapshot may do, the first time that entries are gone; then one with the next entry.
                const isFirst = code === 'LOG_TRIMMED' && !wanted.isAnew;
                wanted = {
                    isAnew: true,
                    offset: isFirst ? NO_OFFSET : applied + 1
                };
                options.nodeLog.warn({
                    err: thrown
                }, 'the state of this node is begun anew');
            }
        }
    }
    /** Brings a process that keeps something of users, and nothing else, to where the log is. */ static async joinPart(options, contentOf) {
        const { log, store, nodeLog, pending, cluster } = options;
        const identity = await untilBegun(log, nodeLog);
        const content = contentOf(identity);
        const own = positionOf(content.keeper.mark());
        const followed = own?.log === identity ? own : startOf(identity);
        const bounds = await untilThere(options, ()=>log.bounds());
        const isHole = bounds.first > followed.offset + 1;
        const snapshot = isHole ? await untilThere(options, ()=>newestSnapshot({
                log,
                store,
                nodeLog
            }, bounds)) : undefined;
        for (const user of snapshot?.erased ?? []){
            if (user.offset > followed.offset) await pending.put(user);
        }
        const { offset, chain } = snapshot ?? followed;
        const position = snapshot === undefined ? followed : {
            ...startOf(identity),
            offset,
            chain
        };
        const life = new Life();
        const reached = new Reached(store, cluster);
        const node = ClusterNode.of({
            options,
            life,
            reached,
            content
        }, position, 'some', []);
        await node.catchUp();
        return node;
    }
    static async joinWhole(parts) {
        const { options, life, standing, content, folders } = parts;
        const { beginning, keeper } = content;
        const own = positionOf(keeper.mark());
        // The founder of the log marks the state: copies of it are known by that.
        const founder = standing.isFounder && !beginning.isSeedAlone() ? randomUUID() : '';
        const isFollowed = own?.log === standing.identity;
        const position = isFollowed ? own : {
            ...startOf(standing.identity),
            entry: founder
        };
        if (founder !== '') await keeper.note(markOf(position));
        beginning.start = position;
        const erased = await standing.erasedBefore();
        const firstDone = ()=>standing.haveErased();
        const node = ClusterNode.of(parts, position, 'all', erased, firstDone);
        const { follower, submissions } = node;
        const { log, store, node: name, nodeLog } = options;
        const snapshots = new Snapshots({
            ...content.snapshots,
            log,
            store,
            node: name,
            folders,
            follower,
            submissions,
            leaseMs: LEASE_MS,
            nodeLog,
            isCurrent: ()=>node.isCurrent,
            newestOffset: ()=>beginning.newestSnapshot
        });
        node.snapshots = snapshots;
        life.onFault(({ code })=>{
            if (code === 'LOG_DIFFERENT' || code === 'STORE_NEWER') return;
            standing.giveUp().catch((thrown)=>{
                options.nodeLog.error({
                    err: thrown
                }, 'cannot note that the state is given up');
            });
        });
        if (standing.isFounder && position.offset === NO_OFFSET) {
            await node.begin(beginning, snapshots, position.entry);
        }
        await node.catchUp();
        return node;
    }
    static of({ options, life, reached, content }, position, scope, erased, firstDone) {
        const { log, store, node, nodeLog, pending } = options;
        const erasures = new NodeErasures(pending, content.eventual, nodeLog, erased, firstDone);
        const state = new ReplicatedState(content.keeper, [
            ...content.ordered,
            erasures.part
        ], scope);
        const history = new History(position, log.place);
        const publication = new Publication({
            log,
            node,
            state,
            history,
            life,
            leaseMs: LEASE_MS,
            erasedUpTo: (offset)=>erasures.upTo(offset),
            onBounds: (bounds)=>follower.noteBounds(bounds)
        });
        const own = {
            log,
            store,
            history,
            life,
            publication
        };
        const follower = new Follower({
            ...own,
            state,
            ...BEHIND_MAX,
            nodeLog
        });
        const submissions = new Submissions({
            ...own,
            node,
            follower,
            leaseMs: LEASE_MS
        });
        erasures.onDone = ()=>void publication.noteErased().catch(()=>undefined);
        return new ClusterNode(options, life, reached, follower, publication, submissions, erasures);
    }
    snapshots;
    get state() {
        return this.life.state;
    }
    /** True if data of users may be used: no erasure has been acknowledged without this node. */ get isCurrent() {
        const { life, publication, follower } = this;
        return life.state === 'serving' && publication.lease.holds(follower.offset);
    }
    /** From now on others wait for this node. Rejects with CONFIG_INVALID for a taken name. */ async serve({ conditions }) {
        this.life.checkFollowing();
        const read = ()=>this.follower.condition();
        conditions.add({
            name: 'log',
            kind: 'dependency',
            isNeeded: true,
            read
        });
        const undone = ()=>this.erasures.condition();
        conditions.add({
            name: 'erasures',
            kind: 'dependency',
            isNeeded: false,
            read: undone
        });
        await this.publication.open();
        this.life.to('serving');
        this.snapshots?.start();
        this.timer = setInterval(()=>void this.noteReached(), REACHED_EVERY_MS);
        this.timer.unref();
        void this.noteReached();
    }
    /** Rejects as the act does where it is applied, and as Submissions.submit(). */ submit(act, how) {
        return this.submissions.submit(act, how);
    }
    /** Acknowledged when every node that serves has nothing of the user any more. */ async erase(erasure, given) {
        const limit = AbortSignal.timeout(ERASURE_MS);
        const signal = given === undefined ? limit : AbortSignal.any([
            given,
            limit
        ]);
        const act = {
            kind: ERASE,
            body: erasure
        };
        const { offset } = await this.submit(act, {
            signal,
            waitFor: 'applied-here'
        });
        const outcome = await this.erasures.outcome(offset, signal);
        await this.submissions.everywhere(offset, signal, true);
        return outcome;
    }
    /** For `/health`, and so for gateways. */ get said() {
        const { position } = this.follower.parts.history;
        const { state, reason } = this.follower.condition();
        return {
            identity: position.log,
            offset: position.offset,
            digest: this.publication.stateDigest,
            fault: state === 'down' ? reason : '',
            isStopped: this.life.state === 'stopped'
        };
    }
    get progress() {
        return {
            offset: this.follower.offset,
            end: this.follower.newest
        };
    }
    async close() {
        clearInterval(this.timer);
        await this.snapshots?.close();
        await this.erasures.close();
        await this.follower.close();
        await this.publication.close();
        if (this.life.state === 'serving') await this.noteReached();
        this.life.to('closed');
        await this.options.log.close();
    }
    async catchUp() {
        this.life.to('catching up');
        this.erasures.start();
        try {
            await this.follower.catchUp();
            // Erasures are tried before anybody asks; one that cannot be done holds nothing.
            await this.erasures.tried(ERASED_FIRST_MS);
        } catch (thrown) {
            await this.erasures.close();
            await this.follower.close();
            await this.publication.close();
            throw thrown;
        }
    }
    /** The first entry: which catalogues, and the state of this node where it has one. */ async begin(beginning, snapshots, founder) {
        const snapshot = founder === '' ? '' : (await snapshots.put()).name;
        const body = {
            seeds: beginning.seeds(),
            founder,
            snapshot
        };
        await this.submissions.append({
            kind: BEGINS,
            body
        }, BEGINS);
        this.options.nodeLog.info({
            snapshot
        }, 'cluster log begun with the state of this node');
    }
    /** A store that is away is needed by nobody now: what was not noted is noted later. */ async noteReached() {
        const { log, offset } = this.follower.parts.history.position;
        await this.reached.note({
            log,
            offset
        }).catch((thrown)=>{
            this.options.nodeLog.debug({
                err: thrown
            }, 'cannot note how far the log was seen');
        });
    }
}
/** Of the start of a node that has erasures to do. */ const ERASED_FIRST_MS = 5000;
/** Of an erasure that nobody gives a deadline. */ const ERASURE_MS = 30_000;

//# sourceMappingURL=node.js.map
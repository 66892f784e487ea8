import { parseRelevanceProfile } from "../../../libs/cluster/routing/src/index.js";
import { NodeAway } from "./node-failure.js";
const LOOK_EVERY_MS = 500;
/** Of an answer: a busy node takes its time. */ const ANSWER_MS_MAX = 1000;
/** Answers in a row that are missing before a node that accepts connections is away. */ const MISSES_MAX = 2;
const OK = 200;
/** Asks every node how it is, twice a second, and itself only while the process lives. */ export class NodeHealth {
    cluster;
    misses = new WeakMap();
    asking = new Set();
    timer;
    constructor(cluster){
        this.cluster = cluster;
    }
    start() {
        this.timer = setInterval(()=>void this.round(), LOOK_EVERY_MS);
        this.timer.unref();
    }
    close() {
        clearInterval(this.timer);
    }
    /** Never rejects. */ async round() {
        await Promise.all(this.cluster.watched().map((link)=>this.look(link)));
        this.cluster.noteProgress();
    }
    async look(link) {
        if (this.asking.has(link)) return;
        this.asking.add(link);
        try {
            const sighting = await sightingOf(link);
            this.misses.delete(link);
            this.cluster.saw(link, sighting);
        } catch (thrown) {
            const misses = (this.misses.get(link) ?? 0) + 1;
            this.misses.set(link, misses);
            const reason = thrown.message;
            const isGone = thrown instanceof NodeAway && /ECONN|ENOTFOUND|EHOST/.test(reason);
            if (!isGone && misses < MISSES_MAX) return;
            this.cluster.saw(link, {
                state: 'down',
                reason,
                isSilent: !isGone
            });
        } finally{
            this.asking.delete(link);
        }
    }
}
async function sightingOf(link) {
    const deadlineMs = Date.now() + ANSWER_MS_MAX;
    const ask = {
        method: 'GET',
        path: '/health',
        headers: {},
        deadlineMs
    };
    const [{ status, body }] = await Promise.all([
        link.http(ask),
        link.ping(deadlineMs)
    ]);
    const { versions, chains = 0, kvStore = '', ...told } = JSON.parse(body.toString());
    if (versions === undefined) return {
        state: 'down',
        reason: 'expected a health answer'
    };
    const relevance = parseRelevanceProfile(told.relevance);
    // One that waits for something else still answers what does not need it; `ready`: before 0.1.
    const isUp = status === OK || told.state === 'blocked' || told.state === 'ready';
    const blocked = status === OK ? '' : told.reason ?? 'it is not ready';
    const { clusterLog: log } = told;
    return {
        state: isUp ? 'up' : 'draining',
        versions,
        chains,
        kvStore,
        relevance,
        log,
        blocked
    };
}

//# sourceMappingURL=node-health.js.map
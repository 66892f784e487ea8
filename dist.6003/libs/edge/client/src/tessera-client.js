import * as grpc from "@grpc/grpc-js";
import "../../../ops/contracts/src/index.js";
import { CHANNEL_OPTIONS, channelCredentials, PLAIN, tokenHeaders } from "./connection.js";
import { withRetries } from "./retry.js";
import { ServiceClient } from "./service-client.js";
import { errorOf } from "./service-error.js";
const REPLY_BYTES_MAX = 64 << 20;
/**
 * Tessera over gRPC. Every call takes the milliseconds that it may last, repetitions included, and
 * rejects with a TesseraError that bears the service's code and field.
 */ export class TesseraClient {
    channel;
    recaller;
    scorer;
    ranker;
    behaviours;
    kvPool;
    /** `address`: host:port. Nothing is connected before the first call. */ constructor(address, { connection = PLAIN, headers } = {}){
        const credentials = channelCredentials(connection);
        const options = {
            'grpc.max_receive_message_length': REPLY_BYTES_MAX,
            ...CHANNEL_OPTIONS
        };
        this.channel = new grpc.Channel(address, credentials, options);
        const shared = {
            credentials,
            headers: ()=>Object.assign({}, headers?.(), tokenHeaders(connection)),
            channel: {
                channelOverride: this.channel
            }
        };
        const clientOf = (name)=>new ServiceClient(name, address, shared);
        this.recaller = clientOf('tessera.recall.v1.RecallService');
        this.scorer = clientOf('tessera.score.v1.ScoreService');
        this.ranker = clientOf('tessera.ranking.v1.RankingService');
        this.behaviours = clientOf('tessera.behaviour.v1.BehaviourService');
        this.kvPool = clientOf('tessera.kv.v1.KvPoolService');
    }
    recall(request, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.recaller.call('Recall', request, options));
    }
    score(request, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.scorer.call('Score', request, options));
    }
    rank(request, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.ranker.call('Rank', request, options));
    }
    /** May be repeated by the caller too: an event ID counts once. */ append(behaviours, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.behaviours.call('Append', {
                behaviours
            }, options));
    }
    history(userId, limit, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.behaviours.call('History', {
                userId,
                limit
            }, options));
    }
    /** Keeps what a user's next prompt begins with, behind every recall. */ keep(request, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.kvPool.call('Append', request, options));
    }
    /** Forgets the keys and values of a user, and their recorded recalls where that is asked for. */ dropUser(userId, deadlineMs, { withRecords = false } = {}) {
        return this.call(deadlineMs, (options)=>this.kvPool.call('DropUser', {
                userId,
                withRecords
            }, options));
    }
    erase(userId, deadlineMs) {
        return this.call(deadlineMs, (options)=>this.behaviours.call('Erase', {
                userId
            }, options));
    }
    close() {
        this.channel.close();
    }
    call(deadlineMs, ask) {
        return withRetries(deadlineMs, async (leftMs)=>{
            try {
                return await ask({
                    deadline: Date.now() + leftMs
                });
            } catch (thrown) {
                throw errorOf(thrown);
            }
        });
    }
}

//# sourceMappingURL=tessera-client.js.map
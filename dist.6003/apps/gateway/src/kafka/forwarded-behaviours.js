import { behaviourEventsPackage, protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { checkKey, checkVersion, MessageCodec, readRecords } from "../../../../libs/ops/kafka/src/index.js";
import { UNTRACED } from "../counted.js";
import { askByOwner } from "../grpc/owner-calls.js";
import { recordHop } from "../grpc/unary-hop.js";
import { errorOf } from "../node-failure.js";
const APPEND = '/tessera.behaviour.v1.BehaviourService/Append';
const PAYLOAD_VERSION = '1';
/** A batch that takes longer is sent again: an event counts once. */ const APPEND_MS = 30_000;
/** Refusals that say of a record that it can never be stored. */ const OF_THE_RECORD = new Set([
    'REQUEST_INVALID',
    'BODY_TOO_LARGE'
]);
/** Behaviours from their topic, each to the owner of its user. */ export class ForwardedBehaviours {
    parts;
    codec = new MessageCodec(protoSchema, `${behaviourEventsPackage}.BehaviourEvent`);
    constructor(parts){
        this.parts = parts;
    }
    /**
   * Resolves when all that can be stored is stored and the rest is buried. Rejects where a node
   * does not take them now: the batch is served again then.
   */ async store(records) {
        const { contents, dead } = readRecords(records, (record)=>this.checked(record));
        await this.parts.producer.bury([
            ...dead,
            ...await this.append(contents)
        ]);
    }
    checked(record) {
        checkVersion(record, PAYLOAD_VERSION);
        const { behaviour } = this.codec.decode(record.value);
        if (behaviour === undefined) {
            const message = 'behaviour: expected a behaviour, got none';
            throw new TesseraError('REQUEST_INVALID', message, {
                field: 'behaviour'
            });
        }
        checkKey(record, behaviour.userId);
        return record;
    }
    /** Halves what a node refuses until the record at fault is alone. @returns those */ async append(records) {
        const [first] = records;
        if (first === undefined) return [];
        const { one, cluster, count } = this.parts;
        // The events of a batch, one behind the other, are the message that appends them: both have
        // behaviours in field 1.
        const bytes = Buffer.concat(records.map(({ value })=>value));
        const call = recordHop(bytes, Date.now() + APPEND_MS, {});
        try {
            await count(APPEND, UNTRACED, ()=>askByOwner(one, cluster, APPEND, call));
            return [];
        } catch (thrown) {
            const error = errorOf(thrown);
            if (!OF_THE_RECORD.has(error.code)) throw error;
            if (records.length === 1) return [
                {
                    record: first,
                    error
                }
            ];
            const middle = records.length >> 1;
            const dead = await this.append(records.slice(0, middle));
            return [
                ...dead,
                ...await this.append(records.slice(middle))
            ];
        }
    }
}

//# sourceMappingURL=forwarded-behaviours.js.map
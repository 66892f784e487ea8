import { adapterEventsPackage, protoSchema } from "../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MessageCodec, RECORD_HEADERS } from "../../../libs/ops/kafka/src/index.js";
const PAYLOAD_VERSION = '1';
/** Of a reason that came from outside. */ const DETAIL_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 128;
/** Every action on adapters: in the audit log, in the service's log, counted, and as an event. */ export class AdapterAudits {
    parts;
    codec = new MessageCodec(protoSchema, `${adapterEventsPackage}.AdapterEvent`);
    constructor(parts){
        this.parts = parts;
    }
    /**
   * Does it between two lines of the audit log: what cannot be audited is not done. `detailsOf`
   * says how it ended.
   */ async audited(action, act, detailsOf = ()=>({})) {
        await this.parts.audits.write(this.entry(action, 'begun'));
        let result;
        try {
            result = await act();
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            await this.end({
                ...action,
                detail: error.message
            }, error.code);
            throw error;
        }
        await this.end({
            ...action,
            ...detailsOf(result)
        }, 'OK');
        return result;
    }
    /** Something that was not asked for. */ async note(action, outcome) {
        await this.end(action, outcome);
    }
    async end(action, outcome) {
        const { metrics, log } = this.parts;
        const entry = this.entry(action, outcome);
        metrics.countAdapterAction(action.action, outcome);
        const { timeMs: _, ...fields } = entry;
        if (outcome === 'OK') log.info(fields, 'adapter change served');
        else log.warn(fields, 'adapter change refused');
        this.send(entry);
        // The action has happened: where its end cannot be written, that is logged, and no more.
        await this.parts.audits.write(entry).catch((error)=>{
            log.error({
                err: error,
                ...fields
            }, 'the end of an action could not be audited');
        });
    }
    entry({ action, actor, name, digest, detail }, outcome) {
        return {
            timeMs: this.parts.nowMs(),
            action,
            actor: actor.name,
            outcome,
            ...actor.role !== undefined && {
                role: actor.role
            },
            name: name.slice(0, NAME_LENGTH_MAX),
            digest: digest.slice(0, NAME_LENGTH_MAX),
            detail: detail.slice(0, DETAIL_LENGTH_MAX)
        };
    }
    /** Behind the action: a broker that is away costs the event, which the audit log has as well. */ send(entry) {
        const { events, log } = this.parts;
        if (events === undefined) return;
        const value = this.codec.encode({
            ...entry
        });
        const headers = {
            [RECORD_HEADERS.version]: PAYLOAD_VERSION
        };
        events.producer.send(events.topic, [
            {
                key: entry.name,
                value,
                headers
            }
        ]).catch((error)=>log.warn({
                err: error
            }, 'an event of adapters was not written'));
    }
}

//# sourceMappingURL=adapter-audits.js.map
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { kafkaClient } from "../../../../ops/kafka/src/index.js";
import { withinMs } from "../../../../ops/turns/src/index.js";
export const KAFKA_FIELD = 'kafka.brokers';
const CLIENT_ID = 'tessera-log';
const REQUEST_TIMEOUT_MS = 4000;
/** Of a call with its attempts: the broker is away where it takes longer. */ const CALL_TIMEOUT_MS = 8000;
/** The client of a log's brokers and the one connection that asks for bounds and topics. */ export class KafkaLink {
    kafka;
    place;
    contact;
    isClosed = false;
    constructor(kafka, place){
        this.kafka = kafka;
        this.place = place;
    }
    /** Nothing is connected yet. Rejects with CONFIG_INVALID for a bad address. */ static async open({ brokers: text, security }, place, nodeLog) {
        const brokers = text.split(',').map((broker)=>broker.trim());
        const wrong = brokers.find((broker)=>!/^[^\s:]+:\d{1,5}$|^\[[^\s\]]+\]:\d{1,5}$/.test(broker));
        if (wrong !== undefined) {
            const message = `${KAFKA_FIELD}: expected HOST:PORT[,HOST:PORT...], got '${wrong}'`;
            throw new TesseraError('CONFIG_INVALID', message, {
                field: KAFKA_FIELD
            });
        }
        const address = {
            clientId: CLIENT_ID,
            brokers,
            requestTimeoutMs: REQUEST_TIMEOUT_MS
        };
        const secured = security === undefined ? address : {
            ...address,
            security
        };
        return new KafkaLink(await kafkaClient(secured, quietened(nodeLog)), place);
    }
    /** Rejects with STORE_UNAVAILABLE or CONFIG_INVALID, within eight seconds. */ async ask(act) {
        if (this.isClosed) throw this.fault(new Error('it was closed'));
        this.contact ??= this.connected();
        const { contact } = this;
        try {
            return await withinMs(CALL_TIMEOUT_MS, contact.then(act));
        } catch (thrown) {
            this.giveUp(contact);
            throw this.fault(thrown);
        }
    }
    fault(thrown) {
        if (thrown instanceof TesseraError) return thrown;
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        if (isRefusal(thrown)) {
            const expected = 'a user with the rights in docs/operate/security.md';
            const message = `${KAFKA_FIELD}: expected ${expected}, got: ${reason}`;
            return new TesseraError('CONFIG_INVALID', message, {
                field: KAFKA_FIELD,
                cause: thrown
            });
        }
        return new TesseraError('STORE_UNAVAILABLE', `${this.place}: ${reason}`, {
            cause: thrown
        });
    }
    close() {
        this.isClosed = true;
        if (this.contact !== undefined) this.giveUp(this.contact);
    }
    async connected() {
        const admin = this.kafka.admin();
        await admin.connect();
        return admin;
    }
    giveUp(contact) {
        if (this.contact === contact) this.contact = undefined;
        contact.then((admin)=>admin.disconnect()).catch(()=>undefined);
    }
}
/** Failures show in the calls: those of each attempt are for whoever looks closely. */ function quietened(nodeLog) {
    const debug = (fields, message)=>nodeLog?.debug(fields, message);
    return {
        debug,
        info: debug,
        warn: debug,
        error: debug
    };
}
/** kafkajs wraps what it was answered at each attempt, and gathers what several topics were. */ function isRefusal(thrown) {
    if (!(thrown instanceof Error)) return false;
    const { name, type, errors = [] } = thrown;
    if (name === 'KafkaJSSASLAuthenticationError') return true;
    if (type?.endsWith('AUTHORIZATION_FAILED')) return true;
    return [
        thrown.cause,
        ...errors
    ].some(isRefusal);
}

//# sourceMappingURL=kafka-link.js.map
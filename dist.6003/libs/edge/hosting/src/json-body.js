import { isUtf8 } from "node:buffer";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { errorBody, JSON_DEPTH_MAX, JSON_MEMBERS_MAX, JSON_VALUES_MAX, jsonFault, TesseraError } from "../../../ops/errors/src/index.js";
import { ProgramThread } from "../../../ops/threads/src/index.js";
const EXPECTED = {
    depth: `nested at most ${JSON_DEPTH_MAX} deep`,
    members: `of at most ${JSON_MEMBERS_MAX} members`,
    values: `of at most ${JSON_VALUES_MAX} values`
};
/** A body of so many bytes takes about a millisecond; a longer one is parsed on a thread. */ const ASIDE_BYTES_MIN = 32_768;
/**
 * The first step of every body, whoever reads it: a member that is null is not there, as proto3 and
 * most serialisers mean it. An entry of a list that is null stays one. Refers to nothing outside:
 * a thread has it by its text.
 */ function read(bytes) {
    const text = new TextDecoder().decode(bytes);
    if (!text.includes('null')) return JSON.parse(text);
    return JSON.parse(text, function(_, value) {
        return value === null && !Array.isArray(this) ? undefined : value;
    });
}
const PROGRAM = `() => ${read}`;
let thread;
/** Made with the first long body, and anew where it ended. */ function aside() {
    if (thread === undefined || thread.isOver) thread = new ProgramThread('json', PROGRAM);
    return thread;
}
/**
 * Bytes -> JSON value without null members. Bytes that are not UTF-8 are refused, never replaced.
 * Rejects with REQUEST_INVALID. Others have a turn of the event loop between the reading of a long
 * body and what is made of it.
 */ export async function parseJsonBody(bytes) {
    if (bytes.length === 0) throw refused('a JSON object, got nothing');
    const fault = jsonFault(bytes);
    if (fault !== undefined) throw refused(`JSON ${EXPECTED[fault]}, got more`);
    if (!isUtf8(bytes)) throw refused('UTF-8, got bytes that are not');
    try {
        if (bytes.length < ASIDE_BYTES_MIN) return read(bytes);
        const value = await aside().ask(bytes);
        await turnOfTheLoop();
        return value;
    } catch (cause) {
        if (cause instanceof TesseraError) throw cause;
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw refused(`JSON, got: ${reason}`, cause);
    }
}
function refused(expected, cause) {
    return new TesseraError('REQUEST_INVALID', `body: expected ${expected}`, {
        field: 'body',
        cause
    });
}
const NO_ENCODING = 'identity';
/** The only content type that the edge takes, and as it is: a few bytes may stand for many. */ export function acceptOnlyJson(instance) {
    instance.addHook('onRequest', (request, reply, done)=>{
        const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? NO_ENCODING;
        if (encoding === '' || encoding === NO_ENCODING) {
            done();
            return;
        }
        const message = `content-encoding: expected none, got ${encoding.slice(0, 40)}`;
        const field = 'content-encoding';
        const error = new TesseraError('MEDIA_TYPE_UNSUPPORTED', message, {
            field
        });
        void reply.status(error.row.http).send(errorBody(error));
    });
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser('application/json', {
        parseAs: 'buffer'
    }, (_request, body)=>parseJsonBody(body));
}

//# sourceMappingURL=json-body.js.map
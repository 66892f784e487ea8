function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
import { Catch, HttpException } from "@nestjs/common";
import { errorBody, refusalPauseMs, TesseraError } from "../../../ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../ops/units/src/index.js";
function statusOf(thrown) {
    if (thrown instanceof HttpException) return thrown.getStatus();
    return thrown?.statusCode;
}
/** Errors of the HTTP server itself, in the words of the one table. */ export function fromServer(thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const status = statusOf(thrown);
    switch(status){
        case 404:
            return new TesseraError('ROUTE_NOT_FOUND', message);
        case 413:
            return new TesseraError('BODY_TOO_LARGE', 'body: expected at most four times grpc.messageBytesMax bytes, got more', {
                field: 'body'
            });
        case 415:
            return new TesseraError('MEDIA_TYPE_UNSUPPORTED', 'content-type: expected application/json, got something else', {
                field: 'content-type'
            });
        default:
            {
                const isFaultOfCaller = typeof status === 'number' && status >= 400 && status < 500;
                return isFaultOfCaller ? new TesseraError('REQUEST_INVALID', message) : TesseraError.from(thrown);
            }
    }
}
/** Answers a failure as `{error: {code, message, field}}`. */ export function answerError(thrown, reply, log) {
    const error = thrown instanceof TesseraError ? thrown : fromServer(thrown);
    if (error.code === 'INTERNAL') log.error({
        err: thrown
    }, 'an HTTP handler failed');
    const pauseMs = refusalPauseMs(error);
    if (pauseMs === 0) send(error, reply);
    else setTimeout(()=>send(error, reply), pauseMs);
}
function send(error, reply) {
    // A connection that is gone needs no answer.
    if (reply.raw.destroyed || reply.sent) return;
    if (error.retryAfterMs !== undefined) {
        reply.header('retry-after', Math.ceil(error.retryAfterMs / MILLISECONDS_PER_SECOND));
    }
    void reply.status(error.row.http).send(errorBody(error));
}
export class HttpErrorFilter {
    log;
    constructor(log){
        this.log = log;
    }
    catch(thrown, host) {
        answerError(thrown, host.switchToHttp().getResponse(), this.log);
    }
}
HttpErrorFilter = _ts_decorate([
    Catch(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Log === "undefined" ? Object : Log
    ])
], HttpErrorFilter);

//# sourceMappingURL=error-filter.js.map
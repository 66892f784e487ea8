import { pino } from "pino";
/** The service's log: one JSON line per event. DI token. */ export class Log {
}
const STDERR = 2;
export function createLog(level, destination) {
    const options = {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: {
            level: (label)=>({
                    level: label
                })
        }
    };
    return pino(options, destination ?? pino.destination({
        dest: STDERR,
        sync: true
    }));
}
/** Nest's own lines through the same log. Nest passes the context as the last argument. */ export class NestLog {
    sink;
    constructor(sink){
        this.sink = sink;
    }
    log(message, ...rest) {
        this.sink.debug(contextOf(rest), String(message));
    }
    warn(message, ...rest) {
        this.sink.warn(contextOf(rest), String(message));
    }
    error(message, ...rest) {
        this.sink.error(contextOf(rest), String(message));
    }
    debug(message, ...rest) {
        this.sink.debug(contextOf(rest), String(message));
    }
    verbose(message, ...rest) {
        this.sink.debug(contextOf(rest), String(message));
    }
    fatal(message, ...rest) {
        this.sink.error(contextOf(rest), String(message));
    }
}
function contextOf(rest) {
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    return stack === undefined ? {
        context
    } : {
        context,
        stack
    };
}

//# sourceMappingURL=logger.js.map
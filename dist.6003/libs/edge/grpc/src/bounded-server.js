import { Server } from "@grpc/grpc-js";
import { MILLISECONDS_PER_SECOND, TIMER_MS_MAX } from "../../../ops/units/src/index.js";
/** grpc-js cuts milliseconds to those of a timer. */ const TIMEOUT_SECONDS_MAX = Math.floor(TIMER_MS_MAX / MILLISECONDS_PER_SECOND);
const SECONDS = {
    H: 3600,
    M: 60,
    S: 1,
    m: 1e-3,
    u: 1e-6,
    n: 1e-9
};
const TIMEOUT = 'grpc-timeout';
/**
 * Pairs of metadata, each of which counts 32 bytes and its own: the bound of their bytes (64 KiB,
 * HTTP/2's SETTINGS_MAX_HEADER_LIST_SIZE) comes first.
 */ const PAIRS_MAX = 2048;
/** A time of gRPC ("Timeout" of its wire format) that is longer than timers, as the longest. */ function boundedTimeout(value) {
    const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
    const seconds = Number(digits) * (SECONDS[unit] ?? 0);
    return seconds > TIMEOUT_SECONDS_MAX ? `${TIMEOUT_SECONDS_MAX}S` : value;
}
/**
 * grpc-js's server, whose numbers of callers are bounded before it reads them: it cuts a time to 32
 * bits, so that 25 days had passed 2,147 seconds before they began.
 */ export function boundedServer(options) {
    const server = new Server(options);
    const inside = server;
    inside.commonServerOptions.maxHeaderListPairs = PAIRS_MAX;
    const create = inside.createHttp2Server.bind(server);
    inside.createHttp2Server = (credentials)=>{
        const http2 = create(credentials);
        http2.prependListener('stream', (_stream, headers)=>{
            const timeout = headers[TIMEOUT];
            if (timeout !== undefined) headers[TIMEOUT] = boundedTimeout(timeout);
        });
        return http2;
    };
    return server;
}

//# sourceMappingURL=bounded-server.js.map
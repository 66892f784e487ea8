/** Keys of what listens, HTTP and gRPC, and of how it stops. */ import { MEBIBYTE } from "../../units/src/index.js";
import { z } from "zod";
import { integer, nonEmptyText, text } from "./schema-fields.js";
const PORT_MAX = 65_535;
const MESSAGE_BYTES_MAX = 256 * MEBIBYTE;
const CONNECTIONS_MAX = 1_000_000;
const MILLISECONDS_MAX = 3_600_000;
const AGE_MS_MAX = 24 * MILLISECONDS_MAX;
/** Limits of each of the two edges. */ export const edgeSchema = z.strictObject({
    connectionsMax: integer(1, CONNECTIONS_MAX, 4096, 'connections of HTTP, and of gRPC; further ones are closed'),
    connectionAgeMs: integer(0, AGE_MS_MAX, 0, 'milliseconds, give or take a tenth, before a connection is closed behind its calls, so that ' + 'clients are balanced again; 0: never'),
    bodyMs: integer(1, MILLISECONDS_MAX, 30_000, 'milliseconds for the arrival of an HTTP request, and of each gRPC message')
});
export const httpSchema = z.strictObject({
    host: nonEmptyText('127.0.0.1', 'address that HTTP listens on'),
    port: integer(0, PORT_MAX, 8080, 'port of HTTP; 0: chosen by the system'),
    trustedProxies: text('', 'addresses or networks of trusted proxies, separated by commas: their x-forwarded-for ' + 'names the client'),
    certificatePath: text('', 'PEM file of the server certificate of HTTP; empty: no TLS'),
    keyPath: text('', 'PEM file of its private key'),
    clientCaPath: text('', 'PEM file of the authority for client certificates; empty: clients need none'),
    publicNames: text('', 'host names of the service besides its addresses, separated by commas; empty: any name ' + 'where callers need a token'),
    keepAliveMs: integer(1, AGE_MS_MAX, 72_000, 'milliseconds before an idle HTTP connection is closed; set it above the idle timeout of ' + 'the load balancer')
});
export const grpcSchema = z.strictObject({
    host: nonEmptyText('127.0.0.1', 'address that gRPC listens on'),
    port: integer(0, PORT_MAX, 50_051, 'port of gRPC; 0: chosen by the system'),
    messageBytesMax: integer(1024, MESSAGE_BYTES_MAX, MEBIBYTE, 'bytes of a request message; four times as many of an HTTP body'),
    certificatePath: text('', 'PEM file of the server certificate of gRPC; empty: no TLS'),
    keyPath: text('', 'PEM file of its private key'),
    clientCaPath: text('', 'PEM file of the authority for client certificates; empty: clients need none')
});
export const shutdownSchema = z.strictObject({
    delayMs: integer(0, MILLISECONDS_MAX, 0, 'milliseconds between the end of readiness and the end of accepting calls: the time that ' + 'load balancers take to notice'),
    drainMs: integer(0, MILLISECONDS_MAX, 10_000, 'milliseconds for accepted recalls to finish')
});

//# sourceMappingURL=schema-edges.js.map
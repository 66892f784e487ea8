import { setTimeout as sleep } from "node:timers/promises";
import { NestFactory } from "@nestjs/core";
import { peerTls } from "../../client/src/index.js";
import { LOAD_TRAILER, protoDescriptors, protoSchema } from "../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { callInterceptor, GrpcHealth, grpcServer, tlsOfGrpc } from "../../grpc/src/index.js";
import { Drain, resolvePort } from "../../../ops/lifecycle/src/index.js";
import { NestLog } from "../../../ops/telemetry/src/index.js";
import { watchCertificates } from "./certificates.js";
import { boundConnections, closeConnectionsWhileDraining, closeOldConnections, fastifyAdapter, sayLoad, tlsOfHttp } from "./fastify-adapter.js";
import { guardRoutes } from "./http-access.js";
import { HttpCalls } from "./http-calls.js";
import { acceptOnlyJson } from "./json-body.js";
import { serveJsonMethods } from "./json-methods.js";
/** Steps of a drain that wait for nothing but a free core. */ export const STEP_BUDGET_MS = 5000;
const NO_METHODS = {
    handlers: new Map()
};
/**
 * Listens over gRPC and HTTP, and serves topics. Rejects with CONFIG_INVALID where an address is
 * not to be had. Ready when it resolves, or once the topics are served.
 */ export async function host(parts) {
    const { http, grpc, readiness, log, topicServer, access, checkVisitor } = parts;
    access.addTo(readiness.conditions);
    const [httpTls, grpcTls] = [
        tlsOfHttp(http),
        tlsOfGrpc(grpc)
    ];
    watchCertificates([
        httpTls,
        grpcTls,
        peerTls(parts.peer)
    ].flatMap((tls)=>tls ?? []), {
        conditions: readiness.conditions,
        metrics: parts.metrics,
        log
    });
    const adapter = fastifyAdapter(http, grpc.messageBytesMax, httpTls);
    const calls = new HttpCalls({
        limits: parts.limits,
        admissions: parts.admissions ?? {}
    });
    const app = await NestFactory.create(parts.module(calls), adapter, {
        logger: new NestLog(log),
        bodyParser: false,
        abortOnError: false
    });
    const instance = app.getHttpAdapter().getInstance();
    guardRoutes(instance, {
        guard: access.guard('http'),
        site: access.site(),
        checkVisitor
    });
    acceptOnlyJson(instance);
    boundConnections(instance, http.connectionsMax);
    closeConnectionsWhileDraining(instance, readiness);
    if (http.connectionAgeMs > 0) closeOldConnections(instance, http.connectionAgeMs);
    if (parts.loadClass !== undefined) sayLoad(instance, parts.loadClass);
    await parts.prepare?.(app);
    const methods = parts.methods?.(app) ?? NO_METHODS;
    serveJson(instance, methods, calls, log);
    const grpcPort = await resolvePort(grpc.host, grpc.port);
    const strategy = grpcEdge(parts, methods, grpcTls, grpcPort);
    app.connectMicroservice({
        strategy
    });
    if (topicServer !== undefined) app.connectMicroservice({
        strategy: topicServer
    });
    await listening('grpc', {
        ...grpc,
        port: grpcPort
    }, ()=>app.startAllMicroservices());
    await listening('http', http, ()=>app.listen(http.port, http.host));
    // Topics are served as soon as their broker is there; calls need no broker.
    readiness.started();
    readiness.watchConditions();
    const scheme = http.certificatePath === '' ? 'http' : 'https';
    const httpUrl = `${scheme}://${hostAndPort(http.host, httpPortOf(app) ?? http.port)}`;
    const grpcAddress = hostAndPort(grpc.host, grpcPort);
    return {
        ...closing(app, parts),
        serving: (steps)=>({
                httpUrl,
                grpcAddress,
                drain: loggedDrain(steps, log)
            })
    };
}
function serveJson(instance, { handlers, json }, calls, log) {
    if (json === undefined) return;
    const overHttp = new Map([
        ...handlers,
        ...json.handlers
    ]);
    serveJsonMethods(instance, {
        handlers: overHttp,
        form: json.form,
        calls,
        log
    });
}
function grpcEdge(parts, { handlers }, tls, port) {
    const { grpc, readiness, access, limits, admissions = {}, loadClass, forwarded, log } = parts;
    const services = [
        ...new Set([
            ...handlers.keys()
        ].map((path)=>path.split('/')[1] ?? ''))
    ];
    const packages = services.map((name)=>name.slice(0, name.lastIndexOf('.')));
    return grpcServer({
        ...grpc,
        port,
        tls,
        packages,
        schema: protoSchema,
        descriptors: protoDescriptors,
        health: new GrpcHealth([
            ...services,
            ...forwarded?.names ?? []
        ], readiness),
        interceptor: callInterceptor({
            guard: access.guard('grpc'),
            bodyMs: grpc.bodyMs,
            ...limits,
            admissions,
            log,
            ...loadClass && {
                trailer: [
                    LOAD_TRAILER,
                    ()=>String(loadClass())
                ]
            }
        }),
        methods: {
            handlers,
            limits,
            admissions,
            log
        },
        addServices: forwarded?.addTo
    });
}
function loggedDrain(steps, log) {
    return new Drain(steps, ({ name: step, outcome, milliseconds, error })=>{
        const facts = {
            step,
            outcome,
            milliseconds: Math.round(milliseconds)
        };
        if (error === undefined) log.info(facts, 'drain step finished');
        else log.error({
            ...facts,
            err: error
        }, 'drain step failed');
    });
}
/** A balancer looks now and then: until it has looked it goes on sending calls. */ const serveOn = (delayMs)=>({
        name: 'serve on',
        budgetMs: delayMs + STEP_BUDGET_MS,
        act: ()=>sleep(delayMs)
    });
/** Closing the edges waits for their answers: it starts before what answers is drained. */ function closing(app, { topicServer, readiness }) {
    let closed;
    const leaveTopics = (drainMs)=>({
            name: 'leave topics',
            budgetMs: drainMs + STEP_BUDGET_MS,
            act: ()=>topicServer?.close()
        });
    return {
        leaving: ({ delayMs, drainMs })=>[
                {
                    name: 'readiness off',
                    budgetMs: STEP_BUDGET_MS,
                    act: ()=>readiness.set('draining')
                },
                ...delayMs === 0 ? [] : [
                    serveOn(delayMs)
                ],
                ...topicServer === undefined ? [] : [
                    leaveTopics(drainMs)
                ],
                {
                    name: 'stop accepting',
                    budgetMs: STEP_BUDGET_MS,
                    act: ()=>{
                        closed = app.close();
                        // Its failure is reported by the step that awaits it.
                        closed.catch(()=>undefined);
                    }
                }
            ],
        edgesClosed: (budgetMs)=>({
                name: 'edges close',
                budgetMs,
                act: ()=>{
                    app.getHttpServer().closeIdleConnections();
                    return closed;
                }
            })
    };
}
/** An address that cannot be had is a fault of the configuration. */ async function listening(edge, { host, port }, listen) {
    try {
        await listen();
    } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        const address = hostAndPort(host, port);
        const message = `${edge}.port: expected a free address, got ${address}: ${reason}`;
        throw new TesseraError('CONFIG_INVALID', message, {
            field: `${edge}.port`,
            cause
        });
    }
}
function hostAndPort(host, port) {
    return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
function httpPortOf(app) {
    const address = app.getHttpServer().address();
    return typeof address === 'object' && address ? address.port : undefined;
}

//# sourceMappingURL=host.js.map
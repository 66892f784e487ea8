import { createRequire } from "node:module";
import { createServer } from "node:net";
import { ServerCredentials } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { ServerGrpc } from "@nestjs/microservices";
import { WatchedTls } from "../../../ops/config/src/index.js";
import { boundedServer } from "./bounded-server.js";
import { Connections } from "./connections.js";
import { withMalformedMarked } from "./malformed.js";
import { addHandlers } from "./served-methods.js";
const protoLoader = createRequire(import.meta.url)('@grpc/proto-loader');
/** How messages look in TypeScript: as the types of @tessera/contracts state. */ const MESSAGE_SHAPE = {
    keepCase: false,
    longs: Number,
    enums: Number,
    defaults: true,
    oneofs: false
};
/** Calls of one connection at once; its client holds further ones back (RFC 9113, 5.1.2). */ const STREAMS_MAX = 1000;
const KEEPALIVE = {
    keepaliveTimeMs: 60_000,
    keepaliveTimeoutMs: 20_000
};
/** Milliseconds in which a client has to end its TLS handshake. */ const HANDSHAKE_MS_MAX = 10_000;
/** Mebibytes that HTTP/2 may hold for one connection: a slow reader gets no further calls. */ const SESSION_MEMORY_MIB = 32;
const TLS_FIELDS = {
    certificate: 'grpc.certificatePath',
    key: 'grpc.keyPath',
    ca: 'grpc.clientCaPath'
};
/** @throws TesseraError CONFIG_INVALID for files that are not those of TLS */ export function tlsOfGrpc(settings) {
    const { certificatePath, keyPath, clientCaPath: caPath } = settings;
    if (certificatePath === '') return undefined;
    return new WatchedTls(TLS_FIELDS, {
        certificatePath,
        keyPath,
        caPath
    });
}
/** Certificates of files that are read again when they change. */ let WatchedCredentials = class WatchedCredentials extends ServerCredentials {
    constructor(tls){
        const { cert, key, ca } = tls.current;
        const asksClients = ca !== undefined;
        super({
            requestCert: asksClients,
            rejectUnauthorized: asksClients,
            handshakeTimeout: HANDSHAKE_MS_MAX
        }, {
            cert,
            key,
            ca
        });
        tls.onChange((files)=>{
            this.updateSecureContextOptions({
                cert: files.cert,
                key: files.key,
                ca: files.ca
            });
        });
    }
    _equals(other) {
        return this === other;
    }
};
/** Serves the compiled files as they are: of a package definition it reads their bytes alone. */ function reflection(descriptors) {
    const fileDescriptorProtos = Object.values(descriptors).map((text)=>Buffer.from(text, 'base64'));
    return new ReflectionService({
        files: {
            fileDescriptorProtos
        }
    });
}
/** Nest's gRPC server behind a listener of its own, which bounds the connections and ends them. */ let BoundedGrpcServer = class BoundedGrpcServer extends ServerGrpc {
    grpcOptions;
    listening;
    connections;
    listener;
    injector;
    constructor(grpcOptions, listening, connections){
        super(grpcOptions), this.grpcOptions = grpcOptions, this.listening = listening, this.connections = connections;
    }
    async createClient() {
        const { channelOptions } = this.grpcOptions;
        const server = boundedServer({
            ...channelOptions,
            ...this.getKeepaliveOptions()
        });
        const { tls } = this.listening;
        const credentials = tls === undefined ? ServerCredentials.createInsecure() : new WatchedCredentials(tls);
        const injector = server.createConnectionInjector(credentials);
        this.injector = injector;
        this.listener = createServer({
            noDelay: true,
            allowHalfOpen: true
        }, (socket)=>{
            this.connections.add(socket);
            injector.injectConnection(socket);
        });
        await this.listenOn(this.listener);
        return server;
    }
    async close() {
        this.listener?.close();
        if (this.injector !== undefined) await this.connections.end(this.injector);
        await super.close();
    }
    listenOn(listener) {
        const { host, port, connectionsMax } = this.listening;
        listener.maxConnections = connectionsMax;
        return new Promise((resolve, reject)=>{
            listener.once('error', reject);
            listener.listen({
                host,
                port
            }, ()=>{
                listener.off('error', reject);
                resolve();
            });
        });
    }
};
/** Nest's gRPC server, with health and reflection added to what the packages serve. */ export function grpcServer(settings) {
    const { connectionAgeMs, messageBytesMax, interceptor } = settings;
    const served = withMalformedMarked(protoLoader.fromJSON(settings.schema, MESSAGE_SHAPE));
    const connections = new Connections();
    const server = new BoundedGrpcServer({
        package: [
            ...settings.packages
        ],
        packageDefinition: served,
        gracefulShutdown: true,
        keepalive: KEEPALIVE,
        // Nest's types know channel options alone.
        channelOptions: {
            'grpc.max_receive_message_length': messageBytesMax,
            'grpc.max_concurrent_streams': STREAMS_MAX,
            'grpc-node.max_session_memory': SESSION_MEMORY_MIB,
            ...connectionAgeMs > 0 && {
                'grpc.max_connection_age_ms': connectionAgeMs
            },
            interceptors: [
                connections.interceptor,
                interceptor
            ]
        },
        onLoadPackageDefinition: (_packages, grpc)=>{
            settings.health.addTo(grpc);
            settings.addServices?.(grpc);
            reflection(settings.descriptors).addToServer(grpc);
        }
    }, settings, connections);
    addHandlers(server, served, settings.methods);
    return server;
}

//# sourceMappingURL=server.js.map
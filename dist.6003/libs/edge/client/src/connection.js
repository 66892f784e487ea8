import * as grpc from "@grpc/grpc-js";
import { WatchedTls, watchedSecret } from "../../../ops/config/src/index.js";
import { watchedCredentials } from "./watched-credentials.js";
/** Answers of many calls under way at once: with less than that the service takes a longer way. */ const WINDOW_BYTES = 1 << 20;
/** Of every channel to a service; one that is back is found within a second. */ export const CHANNEL_OPTIONS = {
    'grpc-node.flow_control_window': WINDOW_BYTES,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000
};
export const PLAIN = {
    isTls: false,
    files: {
        cert: undefined,
        key: undefined,
        ca: undefined
    },
    token: ''
};
export function channelCredentials({ isTls, files }) {
    if (!isTls) return grpc.credentials.createInsecure();
    if (files instanceof WatchedTls) return watchedCredentials(files);
    const { ca = null, key = null, cert = null } = files;
    return grpc.credentials.createSsl(ca, key, cert);
}
/** Headers or metadata of each call. */ export function tokenHeaders({ token }) {
    return token === '' ? {} : {
        authorization: `Bearer ${token}`
    };
}
const PEER_FIELDS = {
    certificate: 'peer.certificatePath',
    key: 'peer.keyPath',
    ca: 'peer.caPath'
};
/** The files of a process that calls another one. @throws TesseraError CONFIG_INVALID */ export function peerTls({ tls, ...paths }) {
    return tls === 'on' ? new WatchedTls(PEER_FIELDS, paths) : undefined;
}
/**
 * How a process of Tessera calls another one. Files are read again when they change.
 * @throws TesseraError CONFIG_INVALID for files that are not what they should be
 */ export function peerConnection(peer) {
    const tls = peerTls(peer);
    tls?.watch();
    const token = watchedSecret('peer.tokenPath', peer.tokenPath);
    return {
        isTls: tls !== undefined,
        files: tls ?? PLAIN.files,
        get token () {
            return token();
        }
    };
}

//# sourceMappingURL=connection.js.map
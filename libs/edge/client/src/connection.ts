import * as grpc from '@grpc/grpc-js';
import { type Config, type TlsFiles, WatchedTls, watchedSecret } from '@tessera/config';
import { watchedCredentials } from './watched-credentials.js';

/** How a service is called: over TLS or not, and as whom. */
export interface Connection {
  readonly isTls: boolean;
  /** PEM texts, looked at for each connection; without an authority those of the system count. */
  readonly files: TlsFiles;
  /** '' for none; that of its moment, asked for each call. */
  readonly token: string;
}

/** Answers of many calls under way at once: with less than that the service takes a longer way. */
const WINDOW_BYTES = 1 << 20;

/** Options of every channel to a service; a service that is back is found within a second. */
export const CHANNEL_OPTIONS: grpc.ChannelOptions = {
  'grpc-node.flow_control_window': WINDOW_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // A service config in DNS may bring gRPC's own repeats, which would multiply ours.
  'grpc.service_config_disable_resolution': 1,
};

export const PLAIN: Connection = {
  isTls: false,
  files: { cert: undefined, key: undefined, ca: undefined },
  token: '',
};

export function channelCredentials({ isTls, files }: Connection): grpc.ChannelCredentials {
  if (!isTls) return grpc.credentials.createInsecure();
  if (files instanceof WatchedTls) return watchedCredentials(files);
  const { ca = null, key = null, cert = null } = files;
  return grpc.credentials.createSsl(ca, key, cert);
}

/** Headers or metadata of each call. */
export function tokenHeaders({ token }: Pick<Connection, 'token'>): Record<string, string> {
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}

const PEER_FIELDS = {
  certificate: 'peer.certificatePath',
  key: 'peer.keyPath',
  ca: 'peer.caPath',
};

/** The files of a process that calls another one. @throws TesseraError CONFIG_INVALID */
export function peerTls({ tls, ...paths }: Config['peer']): WatchedTls | undefined {
  return tls === 'on' ? new WatchedTls(PEER_FIELDS, paths) : undefined;
}

/**
 * How a process of Tessera calls another one. Files are read again when they change.
 * @throws TesseraError CONFIG_INVALID for files that are not what they should be
 */
export function peerConnection(peer: Config['peer']): Connection {
  const tls = peerTls(peer);
  tls?.watch();
  const token = watchedSecret('peer.tokenPath', peer.tokenPath);
  return {
    isTls: tls !== undefined,
    files: tls ?? PLAIN.files,
    get token() {
      return token();
    },
  };
}

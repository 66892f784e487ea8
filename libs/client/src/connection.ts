import * as grpc from '@grpc/grpc-js';
import { type Config, readSecret, readTls, type TlsFiles } from '@tessera/config';

/** How a service is called: over TLS or not, and as whom. */
export interface Connection {
  readonly isTls: boolean;
  /** PEM texts; without an authority those of the system count. */
  readonly files: TlsFiles;
  /** '' for none. */
  readonly token: string;
}

/** Answers of many calls under way at once: with less than that the service takes a longer way. */
const WINDOW_BYTES = 1 << 20;

/** Of every channel to a service; one that is back is found within a second. */
export const CHANNEL_OPTIONS: grpc.ChannelOptions = {
  'grpc-node.flow_control_window': WINDOW_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

export const PLAIN: Connection = {
  isTls: false,
  files: { cert: undefined, key: undefined, ca: undefined },
  token: '',
};

export function channelCredentials({ isTls, files }: Connection): grpc.ChannelCredentials {
  if (!isTls) return grpc.credentials.createInsecure();
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

/**
 * How a process of Tessera calls another one.
 * @throws TesseraError CONFIG_INVALID for files that are not what they should be
 */
export function peerConnection({ tls, tokenPath, ...paths }: Config['peer']): Connection {
  return {
    isTls: tls === 'on',
    files: readTls(PEER_FIELDS, paths),
    token: readSecret('peer.tokenPath', tokenPath),
  };
}

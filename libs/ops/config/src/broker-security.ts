/** Identity of this process towards Kafka, Redis and etcd: users, passwords and TLS files. */

import type { TlsFiles, TlsPaths } from './key-files.js';
import type { Config } from './schema.js';
import { watchedSecret } from './watched-secret.js';
import { WatchedTls } from './watched-tls.js';

/** Each member is that of its moment: it is asked for at each handshake, and not kept. */
export interface StoreSecurity {
  readonly username?: string;
  readonly password?: string | undefined;
  /** Undefined: no TLS. */
  readonly tls?: TlsFiles;
}

export interface KafkaSecurity {
  /** Undefined: no TLS. */
  readonly tls?: TlsFiles;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

/** The files of an identity; they can be sent to another thread. */
export interface IdentityFiles {
  readonly username: string;
  readonly passwordField: string;
  /** '' for none. */
  readonly passwordPath: string;
  /** Undefined: no TLS. */
  readonly tls: TlsPaths | undefined;
}

/** Identity of every outgoing connection: authority, certificate and key of `peer`. */
const FIELDS = { certificate: 'peer.certificatePath', key: 'peer.keyPath', ca: 'peer.caPath' };

/** Own members, which the makers of connections copy as they make one. */
function watchedFiles(paths: TlsPaths): TlsFiles {
  const files = new WatchedTls(FIELDS, paths);
  const current = () => {
    files.look();
    return files.current;
  };
  return {
    get ca() {
      return current().ca;
    },
    get cert() {
      return current().cert;
    },
    get key() {
      return current().key;
    },
  };
}

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function securityOf(files: IdentityFiles): StoreSecurity {
  const { username, passwordField, passwordPath, tls } = files;
  const password = watchedSecret(passwordField, passwordPath);
  return {
    ...(username !== '' && { username }),
    ...(tls !== undefined && { tls: watchedFiles(tls) }),
    get password() {
      return password() || undefined;
    },
  };
}

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function kafkaSecurity({ kafka, peer }: Pick<Config, 'kafka' | 'peer'>): KafkaSecurity {
  const { tls, saslMechanism: mechanism, saslUser: username, saslPasswordPath } = kafka;
  const password = watchedSecret('kafka.saslPasswordPath', saslPasswordPath);
  return {
    ...(tls === 'on' && { tls: watchedFiles(peer) }),
    ...(mechanism !== 'none' && {
      sasl: {
        mechanism,
        username,
        get password() {
          return password();
        },
      },
    }),
  };
}

/** True for `rediss://` and `https://`, in front of an address or of one of several. */
const usesTls = (address: string) => /(^|\s)(https|rediss(\+\w+)?):\/\//.test(address);

/** Identity for the Redis at an address; other Redis of this process are shown the same. */
export function redisIdentity(
  { behaviours, peer }: Pick<Config, 'behaviours' | 'peer'>,
  address: string,
): IdentityFiles {
  const { redisUser: username, redisPasswordPath: passwordPath } = behaviours;
  const passwordField = 'behaviours.redisPasswordPath';
  return { username, passwordField, passwordPath, tls: usesTls(address) ? peer : undefined };
}

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export const redisSecurity = (
  config: Pick<Config, 'behaviours' | 'peer'>,
  address: string,
): StoreSecurity => securityOf(redisIdentity(config, address));

/** Prefix of every key in Redis: clusters of different names share one server. */
export function redisPrefix({ cluster }: Pick<Config, 'cluster'>): string {
  return `${cluster.name}:`;
}

/** True of a process whose state a log decides; any other is the only one of its kind. */
export function followsLog({ cluster }: Pick<Config, 'cluster'>): boolean {
  return cluster.logStore !== '';
}

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function etcdSecurity({ cluster, peer }: Pick<Config, 'cluster' | 'peer'>): StoreSecurity {
  const { etcdUser: username, etcdPasswordPath: passwordPath } = cluster;
  const passwordField = 'cluster.etcdPasswordPath';
  const tls = usesTls(cluster.etcd) ? peer : undefined;
  return securityOf({ username, passwordField, passwordPath, tls });
}

/** Contradictions between these keys. */
export function faultsOfSecurity({ kafka, behaviours, peer, cluster, kv }: Config): string[] {
  const faults: string[] = [];
  const addresses = [behaviours.redis, cluster.etcd, kv.shared];
  const isSecure = [peer.tls, kafka.tls].includes('on') || addresses.some(usesTls);
  if (peer.caPath + peer.certificatePath !== '' && !isSecure) {
    faults.push(
      "peer.tls: expected 'on' (or kafka.tls, rediss:// of Redis, https:// of etcd) " +
        "where files of TLS are given, got 'off'",
    );
  }
  const { saslMechanism, saslUser, saslPasswordPath } = kafka;
  if ((saslMechanism !== 'none') !== (saslUser !== '' && saslPasswordPath !== '')) {
    faults.push(
      'kafka.saslMechanism: expected kafka.saslUser and kafka.saslPasswordPath with a mechanism, ' +
        'and none without',
    );
  }
  const { etcdUser, etcdPasswordPath } = cluster;
  if ((etcdUser === '') !== (etcdPasswordPath === '')) {
    faults.push('cluster.etcdUser: expected both cluster.etcdUser and cluster.etcdPasswordPath');
  }
  if (followsLog({ cluster }) && cluster.etcd === '') {
    faults.push('cluster.etcd: expected HOST:PORT where cluster.logStore is given');
  }
  if (behaviours.redisUser !== '' && behaviours.redisPasswordPath === '') {
    faults.push(
      'behaviours.redisPasswordPath: expected a file where behaviours.redisUser is given',
    );
  }
  return faults;
}

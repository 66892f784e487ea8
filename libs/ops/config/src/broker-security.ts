/** Identity of this process towards Kafka, Redis and etcd: users, passwords and TLS files. */

import { readSecret, readTls, type TlsFiles } from './key-files.js';
import type { Config } from './schema.js';

export interface KafkaSecurity {
  /** Undefined: no TLS. */
  readonly tls?: TlsFiles;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

/** One identity for every outgoing connection: authority, certificate and key of `peer`. */
const FIELDS = { certificate: 'peer.certificatePath', key: 'peer.keyPath', ca: 'peer.caPath' };

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function kafkaSecurity({ kafka, peer }: Pick<Config, 'kafka' | 'peer'>): KafkaSecurity {
  const { tls, saslMechanism: mechanism, saslUser: username, saslPasswordPath } = kafka;
  const password = readSecret('kafka.saslPasswordPath', saslPasswordPath);
  return {
    ...(tls === 'on' && { tls: readTls(FIELDS, peer) }),
    ...(mechanism !== 'none' && { sasl: { mechanism, username, password } }),
  };
}

export interface StoreSecurity {
  readonly username?: string;
  readonly password?: string;
  /** Undefined: no TLS. */
  readonly tls?: TlsFiles;
}

/** True for `rediss://` and `https://`, in front of an address or of one of several. */
const usesTls = (address: string) => /(^|\s)(https|rediss(\+\w+)?):\/\//.test(address);

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function redisSecurity(
  { behaviours, peer }: Pick<Config, 'behaviours' | 'peer'>,
  address: string,
): StoreSecurity {
  const { redisUser: username, redisPasswordPath } = behaviours;
  const password = readSecret('behaviours.redisPasswordPath', redisPasswordPath);
  return {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(usesTls(address) && { tls: readTls(FIELDS, peer) }),
  };
}

/** Prefix of every key in Redis: clusters of different names share one server. */
export function redisPrefix({ cluster }: Pick<Config, 'cluster'>): string {
  return `${cluster.name}:`;
}

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function etcdSecurity({ cluster, peer }: Pick<Config, 'cluster' | 'peer'>): StoreSecurity {
  const { etcdUser: username, etcdPasswordPath } = cluster;
  const password = readSecret('cluster.etcdPasswordPath', etcdPasswordPath);
  return {
    ...(username !== '' && { username, password }),
    ...(usesTls(cluster.etcd) && { tls: readTls(FIELDS, peer) }),
  };
}

/** Contradictions between these keys. */
export function faultsOfSecurity({ kafka, behaviours, peer, cluster, kv }: Config): string[] {
  const faults: string[] = [];
  const addresses = [behaviours.redis, cluster.logRedis, cluster.etcd, kv.shared];
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
  if (cluster.log !== 'none' && cluster.logStore === '') {
    faults.push('cluster.logStore: expected a folder or s3://BUCKET/PREFIX beside cluster.log');
  }
  if (cluster.log === 'etcd' && cluster.etcd === '') {
    faults.push('cluster.etcd: expected HOST:PORT where cluster.log is etcd');
  }
  if (cluster.log === 'kafka' && kafka.brokers === '') {
    faults.push('kafka.brokers: expected HOST:PORT where cluster.log is kafka');
  }
  if (behaviours.redisUser !== '' && behaviours.redisPasswordPath === '') {
    faults.push(
      'behaviours.redisPasswordPath: expected a file where behaviours.redisUser is given',
    );
  }
  return faults;
}

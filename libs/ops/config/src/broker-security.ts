/** How this process shows itself to Kafka, Redis and etcd, of the keys and files that say so. */

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

const KAFKA_FIELDS = {
  certificate: 'kafka.certificatePath',
  key: 'kafka.keyPath',
  ca: 'kafka.caPath',
};

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function kafkaSecurity(kafka: Config['kafka']): KafkaSecurity {
  const { tls, saslMechanism: mechanism, saslUser: username, saslPasswordPath } = kafka;
  const password = readSecret('kafka.saslPasswordPath', saslPasswordPath);
  return {
    ...(tls === 'on' && { tls: readTls(KAFKA_FIELDS, kafka) }),
    ...(mechanism !== 'none' && { sasl: { mechanism, username, password } }),
  };
}

export interface StoreSecurity {
  readonly username?: string;
  readonly password?: string;
  /** Undefined: no TLS. */
  readonly tls?: TlsFiles;
}

const REDIS_FIELDS = {
  certificate: 'behaviours.redisCertificatePath',
  key: 'behaviours.redisKeyPath',
  ca: 'behaviours.redisCaPath',
};

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function redisSecurity(behaviours: Config['behaviours']): StoreSecurity {
  const { redisUser: username, redisPasswordPath, redisTls } = behaviours;
  const { redisCaPath, redisCertificatePath, redisKeyPath } = behaviours;
  const password = readSecret('behaviours.redisPasswordPath', redisPasswordPath);
  const paths = { caPath: redisCaPath, certificatePath: redisCertificatePath };
  return {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(redisTls === 'on' && { tls: readTls(REDIS_FIELDS, { ...paths, keyPath: redisKeyPath }) }),
  };
}

const ETCD_FIELDS = {
  certificate: 'cluster.etcdCertificatePath',
  key: 'cluster.etcdKeyPath',
  ca: 'cluster.etcdCaPath',
};

/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
export function etcdSecurity(cluster: Config['cluster']): StoreSecurity {
  const { etcdUser: username, etcdPasswordPath, etcdCaPath: caPath } = cluster;
  const { etcdCertificatePath: certificatePath, etcdKeyPath: keyPath } = cluster;
  const password = readSecret('cluster.etcdPasswordPath', etcdPasswordPath);
  return {
    ...(username !== '' && { username, password }),
    tls: readTls(ETCD_FIELDS, { certificatePath, keyPath, caPath }),
  };
}

/** Contradictions between these keys. */
export function faultsOfSecurity({ kafka, behaviours, peer, cluster }: Config): string[] {
  const faults: string[] = [];
  const needsTls = (tls: string, key: string, ...paths: string[]) => {
    if (tls === 'on' || paths.every((path) => path === '')) return;
    faults.push(`${key}: expected 'on' where files of TLS are given, got 'off'`);
  };
  needsTls(peer.tls, 'peer.tls', peer.caPath, peer.certificatePath);
  needsTls(kafka.tls, 'kafka.tls', kafka.caPath, kafka.certificatePath);
  const { redisTls, redisCaPath, redisCertificatePath } = behaviours;
  needsTls(redisTls, 'behaviours.redisTls', redisCaPath, redisCertificatePath);
  const { saslMechanism, saslUser, saslPasswordPath } = kafka;
  if ((saslMechanism !== 'none') !== (saslUser !== '' && saslPasswordPath !== '')) {
    faults.push(
      'kafka.saslMechanism: expected kafka.saslUser and kafka.saslPasswordPath with a mechanism, ' +
        'and none without',
    );
  }
  const { etcd, etcdCaPath, etcdCertificatePath, etcdUser, etcdPasswordPath } = cluster;
  if (!etcd.startsWith('https://') && etcdCaPath + etcdCertificatePath !== '') {
    faults.push('cluster.etcd: expected https:// where files of TLS are given');
  }
  if ((etcdUser === '') !== (etcdPasswordPath === '')) {
    faults.push('cluster.etcdUser: expected both cluster.etcdUser and cluster.etcdPasswordPath');
  }
  if (cluster.log !== 'none' && cluster.logStore === '') {
    faults.push('cluster.logStore: expected a folder or s3://BUCKET/PREFIX beside cluster.log');
  }
  if (cluster.log === 'redis' && cluster.logRedis === '') {
    faults.push('cluster.logRedis: expected HOST:PORT where cluster.log is redis');
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

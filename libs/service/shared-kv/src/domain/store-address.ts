import { expecting, shown } from '@tessera/errors';

/** Address of a store, as operators write it. */
export type StoreAddress =
  | {
      readonly kind: 'redis';
      /** `host:port[,host:port]`; of sentinels where `sentinel` has the name of their primary. */
      readonly nodes: string;
      readonly isTls: boolean;
      readonly isCluster: boolean;
      readonly sentinel: string | undefined;
    }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Ends with a slash, or is empty. */
      readonly prefix: string;
    };

const REDIS = /^redis(s?)(\+sentinel)?:\/\/([^/?#]+)\/?(?:([^/?#]*))?(?:\?([^#]*))?$/;
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})((?:\/(?!\.)[\w.-]+)*)\/?$/;
const EXPECTED =
  'redis://HOST:PORT[,HOST:PORT][/?cluster|?sentinel=NAME], rediss://..., ' +
  'redis+sentinel://HOST:PORT[,HOST:PORT]/NAME or s3://BUCKET/PREFIX';

const configExpected = expecting('CONFIG_INVALID');

/** @throws TesseraError CONFIG_INVALID with the field, for what is no address */
export function parseStoreAddress(field: string, address: string): StoreAddress {
  const [, bucket, path = ''] = S3.exec(address) ?? [];
  if (bucket !== undefined) {
    return { kind: 's3', bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
  }
  const [, tls, scheme, nodes, name = '', query = ''] = REDIS.exec(address) ?? [];
  if (nodes === undefined) throw configExpected(field, EXPECTED, shown(address));
  // The text of an address is shown in messages and logs.
  if (nodes.includes('@')) throw configExpected(field, 'no password in the address', 'one');
  const words = new URLSearchParams(query);
  const sentinel = scheme === undefined ? (words.get('sentinel') ?? undefined) : name;
  const isCluster = words.has('cluster') || (sentinel === undefined && nodes.includes(','));
  const isNamed = scheme !== undefined || name === '';
  const isKnown = [...words.keys()].every((word) => word === 'cluster' || word === 'sentinel');
  if (!isNamed || !isKnown || sentinel === '' || (isCluster && sentinel !== undefined)) {
    throw configExpected(field, EXPECTED, shown(address));
  }
  return { kind: 'redis', nodes, isTls: tls === 's', isCluster, sentinel };
}

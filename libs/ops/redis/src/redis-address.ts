import type { StoreSecurity } from '@tessera/config';
import { TesseraError } from '@tessera/errors';

export interface RedisAddress {
  /** `host:port`, or several of one cluster separated by commas; `rediss://` may be in front. */
  readonly address: string;
  /** Left out: no password and no TLS. */
  readonly security?: StoreSecurity | undefined;
}

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** @throws TesseraError CONFIG_INVALID with the field, for what is no address */
export function parseRedisNodes(field: string, address: string): readonly RedisNode[] {
  return address
    .replace(/^rediss?:\/\//, '')
    .split(',')
    .map((text) => {
      const match = /^\s*\[?([^\]\s]+?)\]?:(\d{1,5})\s*$/.exec(text);
      if (match?.[1] !== undefined) return { host: match[1], port: Number(match[2]) };
      const message = `${field}: expected HOST:PORT[,HOST:PORT...], got '${text}'`;
      throw new TesseraError('CONFIG_INVALID', message, { field });
    });
}

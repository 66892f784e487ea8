import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { constants } from 'node:zlib';
import fastifyCompress from '@fastify/compress';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Path prefix of the pages of the console. */
const CONSOLE_PREFIX = '/console/';

/**
 * Scripts and data come from this origin alone, and no page may frame these. Styles may be inline:
 * the components set theirs so, and a style cannot act.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every page that is served, the API's description included. */
export const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const API_PREFIX = '/console/api/';
/** Answers are for the person who asked, at that moment: nothing may be cached. */
const API_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Brotli's level: the highest would cost more time than the wire does. */
const BROTLI_QUALITY = 4;

/** Answers of the console's API alone are compressed: those of recalls would wait for it. */
async function compressApi(instance: FastifyInstance): Promise<void> {
  instance.addHook('onRoute', (route) => {
    if (!route.url.startsWith(API_PREFIX)) route.compress = false;
  });
  await instance.register(fastifyCompress, {
    encodings: ['br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  });
}

/** Files whose names change with their content. */
const LASTING = /\/assets\//;

/** Serves the built pages; false where there are none. */
export async function servePages(instance: FastifyInstance, folder: string): Promise<boolean> {
  if (!existsSync(join(folder, 'index.html'))) return false;
  instance.addHook('onSend', (request, reply, payload, done) => {
    if (request.url.startsWith(API_PREFIX)) reply.headers(API_HEADERS);
    done(null, payload);
  });
  await compressApi(instance);
  await instance.register(fastifyStatic, {
    root: folder,
    prefix: CONSOLE_PREFIX,
    decorateReply: false,
    redirect: true,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.header(name, value);
      const lasts = LASTING.test(path);
      reply.header('cache-control', lasts ? 'max-age=31536000, immutable' : 'no-cache');
    },
  });
  // Beside the page that was asked for, whatever a proxy puts before both.
  instance.get(CONSOLE_PREFIX.slice(0, -1), (_request, reply) => reply.redirect('console/'));
  return true;
}

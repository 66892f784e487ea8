// A registry of packed packages on this machine. npm heeds an npm-shrinkwrap.json only where a
// registry says that the package has one.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';
import { output } from './engine-package.mjs';

function packageOf(path, url) {
  const inside = (words) => output('tar', [...words, '-f', path]);
  const manifest = JSON.parse(inside(['-xzO', 'package/package.json']));
  const hash = createHash('sha512').update(fs.readFileSync(path)).digest('base64');
  const described = {
    ...manifest,
    _hasShrinkwrap: inside(['-tz']).includes('package/npm-shrinkwrap.json'),
    dist: { tarball: `${url}/${basename(path)}`, integrity: `sha512-${hash}` },
  };
  const { name, version } = manifest;
  return { name, 'dist-tags': { latest: version }, versions: { [version]: described } };
}

/** @returns its URL, and what ends it */
export async function serveRegistry(paths) {
  const files = new Map(paths.map((path) => [`/${basename(path)}`, path]));
  const server = createServer((request, reply) => {
    const path = decodeURIComponent(request.url);
    const found = packages.find(({ name }) => path === `/${name}`);
    if (files.has(path)) fs.createReadStream(files.get(path)).pipe(reply);
    else reply.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const packages = paths.map((path) => packageOf(path, url));
  return { url, close: () => server.close() };
}

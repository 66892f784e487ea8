/**
 * Packages of callers as a release publishes them, and clients that generators make of the OpenAPI
 * document: each is installed into an empty project, which asks the built service.
 */

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createServer } from 'node:tls';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeClientPackage } from '../../tools/release/client-package.mjs';
import { DEMO } from '../e2e/random-adapter.js';
import { Service } from '../e2e/service.js';
import { BUILD_MS, generateGo, printedIds, run, skipWithout } from './run-tools.js';

const TSC = resolve('node_modules/typescript7/bin/tsc');
const PROGRAMS = resolve('test/clients/installed');
const folder = temporaryFolder({});
const own = (...names: string[]) => join(folder.path, ...names);
let service: Service;
let expected: string[] = [];

beforeAll(async () => {
  service = await Service.start({
    TESSERA_MODEL_PATH: DEMO,
    TESSERA_CATALOGUE_CACHE_PATH: own('cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: own('changes'),
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: own('behaviours'),
  });
  const { json } = await service.post({ userId: '1', resultCount: 3 });
  expected = (json.items as { itemId: string }[]).map(({ itemId }) => itemId);
});

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

/** An empty project with a program of test/clients/installed. */
function emptyProject(name: string, program = ''): string {
  const path = own(name);
  fs.mkdirSync(path);
  if (program !== '') fs.copyFileSync(join(PROGRAMS, program), join(path, program));
  return path;
}

const digestOf = (path: string) => createHash('sha256').update(fs.readFileSync(path)).digest('hex');

const NPM = ['install', '--no-audit', '--no-fund', '--prefer-offline'];
const STRICT = ['--noEmit', '--strict', '--target', 'ES2023', '--module', 'nodenext'];

describe.skipIf(skipWithout('npm'))('in an empty npm project', () => {
  async function install(path: string, packages: readonly string[]) {
    fs.writeFileSync(join(path, 'package.json'), '{"private": true, "type": "module"}\n');
    await run(path, 'npm', [...NPM, `@types/node@22`, ...packages]);
  }

  it('@tessera/client has types, answers and errors', { timeout: BUILD_MS }, async () => {
    writeClientPackage(resolve('.'), own('packed'));
    const packed = await run(own('packed'), 'npm', ['pack', '--json']);
    const [{ filename }] = JSON.parse(packed);
    const path = emptyProject('npm', 'use-client.mts');
    await install(path, [own('packed', filename)]);
    await run(path, process.execPath, [TSC, ...STRICT, '--types', 'node', 'use-client.mts']);
    const tls = await guarded(path);
    const words = ['use-client.mts', service.grpcAddress, tls.address, join(path, 'own.pem')];
    const printed = await run(path, process.execPath, words);
    tls.close();
    expect(printedIds(printed)).toEqual(expected);
  });

  it('the types of openapi-typescript are enough for fetch', { timeout: BUILD_MS }, async () => {
    const path = emptyProject('openapi-npm', 'use-openapi.mts');
    await install(path, ['openapi-typescript@7', 'openapi-fetch', 'typescript@5']);
    const document = `${service.httpUrl}/docs-json`;
    await run(path, 'npx', ['openapi-typescript', document, '-o', 'schema.d.ts']);
    await run(path, process.execPath, [TSC, ...STRICT, '--types', 'node', 'use-openapi.mts']);
    const printed = await run(path, process.execPath, ['use-openapi.mts', service.httpUrl]);
    expect(printedIds(printed)).toEqual(expected);
  });

  /** A server that lets in nobody without a certificate. */
  async function guarded(path: string) {
    const files = ['-keyout', 'own.key', '-out', 'own.pem'];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    await run(path, 'openssl', [...made, ...names, ...files]);
    const [key, cert] = ['own.key', 'own.pem'].map((name) => fs.readFileSync(join(path, name)));
    const options = { key, cert, ca: cert, requestCert: true, ALPNProtocols: ['h2'] };
    const server = createServer(options as object);
    await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
    const { port } = server.address() as AddressInfo;
    return { address: `localhost:${port}`, close: () => server.close() };
  }
});

describe.skipIf(skipWithout('python3'))('in an empty Python environment', () => {
  const python = own('venv', 'bin', 'python');

  it('wheel and archive are the same bytes twice, and work', { timeout: BUILD_MS }, async () => {
    await run('.', 'python3', ['-m', 'venv', own('venv')]);
    const pyproject = fs.readFileSync('clients/python/pyproject.toml', 'utf8');
    const [, needs = ''] = /^requires = (\[.*\])$/m.exec(pyproject) ?? [];
    const tools = ['build', 'twine', 'wheel', ...(JSON.parse(needs) as string[])];
    await run('.', python, ['-m', 'pip', 'install', '--quiet', ...tools]);
    const env = { ...process.env, SOURCE_DATE_EPOCH: '1700000000' };
    const digests = [];
    for (const copy of ['one', 'other']) {
      const source = own(copy, 'clients', 'python');
      fs.cpSync('proto', own(copy, 'proto'), { recursive: true });
      const isSource = (path: string) => !/python\/(build|tessera|.*egg-info)(\/|$)/.test(path);
      fs.cpSync('clients/python', source, { recursive: true, filter: isSource });
      const words = ['-m', 'build', '--no-isolation', '--outdir', own(copy, 'dist'), '.'];
      await run(source, python, words, env);
      const names = fs.readdirSync(own(copy, 'dist')).sort();
      digests.push(names.map((name) => [name, digestOf(own(copy, 'dist', name))]));
    }
    expect(digests[0]).toHaveLength(2);
    expect(digests[0]).toEqual(digests[1]);
    const [wheel = '', archive = ''] = fs.readdirSync(own('one', 'dist')).sort();
    const files = [wheel, archive].map((name) => own('one', 'dist', name));
    await run('.', python, ['-m', 'twine', 'check', '--strict', ...files]);
    // An archive is all that the package is built from.
    await run(folder.path, python, ['-m', 'pip', 'install', '--quiet', files[1] as string]);
    const path = emptyProject('python');
    fs.copyFileSync('clients/python/examples/recall.py', join(path, 'recall.py'));
    const printed = await run(path, python, ['recall.py', service.grpcAddress, '1']);
    expect(printedIds(printed)).toEqual(expected);
  });
});

describe.skipIf(skipWithout('java'))('openapi-generator', () => {
  it('makes a client for Python that takes a predicate', { timeout: BUILD_MS }, async () => {
    const path = emptyProject('openapi-python', 'use_openapi.py');
    const python = join(path, 'venv', 'bin', 'python');
    await run(path, 'python3', ['-m', 'venv', 'venv']);
    await run(path, python, ['-m', 'pip', 'install', '--quiet', 'openapi-generator-cli==7.26.0']);
    const document = await (await fetch(`${service.httpUrl}/docs-json`)).text();
    fs.writeFileSync(join(path, 'document.json'), document);
    const words = ['generate', '-i', 'document.json', '-g', 'python', '-o', 'made'];
    await run(path, join(path, 'venv', 'bin', 'openapi-generator-cli'), words);
    await run(path, python, ['-m', 'pip', 'install', '--quiet', './made']);
    const printed = await run(path, python, ['use_openapi.py', service.httpUrl]);
    expect(printedIds(printed)).toEqual(expected);
  });
});

describe.skipIf(skipWithout('go', 'version'))('in an empty Go module', () => {
  it('the module is all that is needed', { timeout: BUILD_MS }, async () => {
    await generateGo();
    // As it is published: the folder alone.
    fs.cpSync('clients/go', own('published'), { recursive: true });
    const path = emptyProject('go');
    fs.copyFileSync('clients/go/examples/recall/main.go', join(path, 'main.go'));
    await run(path, 'go', ['mod', 'init', 'example.test/ads']);
    const edits = ['-require=tessera.dev/go@v0.1.0', `-replace=tessera.dev/go=${own('published')}`];
    await run(path, 'go', ['mod', 'edit', ...edits]);
    await run(path, 'go', ['mod', 'tidy']);
    const printed = await run(path, 'go', ['run', '.', service.grpcAddress, '1']);
    expect(printedIds(printed)).toEqual(expected);
    expect(fs.readFileSync('clients/go/go.mod', 'utf8')).not.toContain('replace');
  });
});

describe.skipIf(skipWithout('mvn'))('in an empty Maven project', () => {
  it('the artifact, its sources and its documentation do', { timeout: BUILD_MS }, async () => {
    fs.cpSync('proto', own('java', 'proto'), { recursive: true });
    const isSource = (path: string) => !/java\/target(\/|$)/.test(path);
    const source = own('java', 'clients', 'java');
    fs.cpSync('clients/java', source, { recursive: true, filter: isSource });
    await run(source, 'mvn', ['-B', '-q', '-DskipTests', '-Prelease', 'install']);
    const jars = fs.readdirSync(join(source, 'target')).filter((name) => name.endsWith('.jar'));
    expect(jars.sort()).toEqual(
      ['-javadoc.jar', '-sources.jar', '.jar'].map((end) => `tessera-client-0.1.0${end}`),
    );
    const sources = await run(source, 'jar', ['tf', 'target/tessera-client-0.1.0-sources.jar']);
    expect(sources).toContain('dev/tessera/client/TesseraClient.java');
    expect(sources).toContain('dev/tessera/recall/v1/RecallRequest.java');
    const path = emptyProject('maven');
    fs.copyFileSync(join(PROGRAMS, 'maven-project.xml'), join(path, 'pom.xml'));
    const main = join(path, 'src', 'main', 'java');
    fs.mkdirSync(main, { recursive: true });
    const example = fs.readFileSync('clients/java/src/main/java/dev/tessera/examples/Recall.java');
    const text = example.toString().replace(/^package .*$/m, '');
    fs.writeFileSync(join(main, 'Recall.java'), text);
    const words = ['-B', '-q', 'compile', 'exec:java', '-Dexec.mainClass=Recall'];
    const printed = await run(path, 'mvn', [...words, `-Dexec.args=${service.grpcAddress} 1`]);
    expect(printedIds(printed)).toEqual(expected);
  });
});

import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, describeConfig, loadConfig, repositoryRoot } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { drainOnStopSignals } from '@tessera/lifecycle';
import { createRecallRuntime, type RecallRuntime } from '@tessera/recall';
import { createLog, type Log } from '@tessera/telemetry';
import { ProgressLines } from './progress.js';
import { runtimeOptions } from './runtime-options.js';
import { sampleTable } from './sample-table.js';
import { type Serving, serve } from './serve.js';

const EXIT_FAILED = 1;
const MEBIBYTE = 2 ** 20;
const EXIT_USAGE = 2;
const USAGE = `usage: npm start -- [flags]
  --config FILE       configuration
  --print-config      print the effective configuration and end
  --kafka HOST:PORT   serve the topics of a broker (kafka.brokers)
  --redis HOST:PORT   keep behaviours in Redis (behaviours.redis)
Every key and its variable: docs/configuration.md`;

const print = (line: string) => process.stdout.write(`${line}\n`);

interface Flags {
  readonly file: string | undefined;
  readonly printConfig: boolean;
  /** Configuration by path. */
  readonly values: Readonly<Record<string, string>>;
}

function parseFlags(words: readonly string[]): Flags | 'help' | 'bad' {
  let file: string | undefined;
  let printConfig = false;
  let values: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === '--help') return 'help';
    if (word === '--print-config') printConfig = true;
    else {
      const value = words[++at];
      if (value === undefined) return 'bad';
      if (word === '--config') file = value;
      else if (word === '--kafka') values = { ...values, 'kafka.brokers': value };
      else if (word === '--redis') {
        values = { ...values, 'behaviours.store': 'redis', 'behaviours.redis': value };
      } else return 'bad';
    }
  }
  return { file, printConfig, values };
}

function serviceVersion(): string {
  return JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')).version;
}

async function load(config: Config, log: Log): Promise<RecallRuntime> {
  print(`Loading ${config.model.path}`);
  const progress = new ProgressLines(print);
  const runtime = await createRecallRuntime(
    runtimeOptions(config, progress.listener, (error) => {
      if (error === undefined) log.info({}, 'the catalogue was compacted');
      else log.error({ err: error }, 'the catalogue could not be compacted');
    }),
  );
  progress.end();
  const { model, catalogue, promptTemplate, userCount } = runtime.summary;
  print(
    `Model ${model.family}, ${model.parameterCount} parameters, ${model.computeType} on ` +
      `${model.instructionSet}; catalogue of ${catalogue.itemCount} items in ` +
      `${catalogue.pathCount} semantic IDs; template ${promptTemplate.name}; ` +
      (userCount === null ? `behaviours in ${config.behaviours.store}` : `${userCount} users`),
  );
  print(kvLine(config.kv));
  return runtime;
}

function kvLine(kv: Config['kv']): string {
  const { pool, deviceBytes, hostBytes, diskBytes, path, blockCodec } = kv;
  if (pool === 'off') return 'KV pool off';
  const size = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(0)} MiB`;
  const disk = diskBytes === 0 ? 'none on disk' : `${size(diskBytes)} on disk in ${path}`;
  const codec = blockCodec === 'exact' ? '' : `; not exact below the device (${blockCodec})`;
  const above = `${size(deviceBytes)} on the device, ${size(hostBytes)} on the host`;
  return `KV pool: ${above}, ${disk}${codec}`;
}

async function printSample(runtime: RecallRuntime, config: Config): Promise<void> {
  const [userId] = await runtime.sampleUserIds(1);
  if (userId === undefined) return;
  const request = {
    requestId: 'sample',
    userId,
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: false,
  };
  const context = {
    signal: new AbortController().signal,
    budgetUs: config.recall.deadlineMsMax * 1000,
  };
  const answer = await runtime.recall(request, context);
  print(`\nRecall for user ${userId} (${(answer.timings.totalUs / 1000).toFixed(1)} ms)`);
  print(sampleTable(answer));
}

function printAddresses(serving: Serving): void {
  print('\nServing');
  print(`  HTTP     ${serving.httpUrl}/v1/recall`);
  print(`  gRPC     ${serving.grpcAddress}  tessera.recall.v1.RecallService/Recall`);
  print(`  health   ${serving.httpUrl}/health`);
  print(`  metrics  ${serving.httpUrl}/metrics`);
  print(`  OpenAPI  ${serving.httpUrl}/docs`);
}

async function start(flags: Flags): Promise<void> {
  const { file, values } = flags;
  const loaded = loadConfig({ ...(file === undefined ? {} : { file }), flags: values });
  if (flags.printConfig) {
    print(describeConfig(loaded));
    return;
  }
  const { config } = loaded;
  const log = createLog(config.log.level);
  const runtime = await load(config, log);
  const parts = { config, runtime, log, serviceVersion: serviceVersion() };
  const serving = await serve(parts).catch(async (error: unknown) => {
    await runtime.close();
    throw error;
  });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  printAddresses(serving);
  await printSample(runtime, config).catch((error: unknown) => {
    log.warn({ err: error }, 'the sample recall failed');
  });
}

const flags = parseFlags(process.argv.slice(2));
if (flags === 'help' || flags === 'bad') {
  print(USAGE);
  process.exitCode = flags === 'help' ? 0 : EXIT_USAGE;
} else {
  start(flags).catch((thrown: unknown) => {
    const error = TesseraError.from(thrown);
    const place = error.field === undefined ? '' : ` (${error.field})`;
    process.stderr.write(`${error.code}${place}: ${error.message}\n`);
    if (error.code === 'INTERNAL' && thrown instanceof Error) {
      process.stderr.write(`${thrown.stack}\n`);
    }
    process.exit(EXIT_FAILED);
  });
}

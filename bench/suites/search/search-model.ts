import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import {
  type Binding,
  buildCatalogue,
  type ChangingCatalogue,
  type EngineAnswer,
  type EngineRequest,
  EVERY_ITEM,
  engineLimits,
  type LevelTokens,
  NativeEngine,
  openCatalogue,
  type Reach,
  type ReachRequest,
  type ScoreNorm,
} from '@tessera/engine';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import { BEAM_WIDTH } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { promptsOf } from '../../../tools/doctor/prompts.js';
import { type Case, readCases } from '../../../tools/evaluate/cases.js';
import { Flags } from '../../../tools/terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../../../tools/terminal/model-flags.js';
import { Random } from '../../models/random.js';
import { bySid, type SuiteItem, type TrieNode, trieNodes } from './brute-force.js';
import { drawAttributes } from './draw-cases.js';

const BUDGET_US = 600e6;
const WIDTH_MAX = 4096;
/** Paths of one score request: they share the rows of their prefixes. */
const SCORED_AT_ONCE = 2048;
const RESULTS_MAX = 1000;
const SEED = 42;
/** Rows that the proof never needs so many of, where a model was trained. */
const ROWS_ENOUGH = 1024;
/** Such that nothing of a catalogue of the suite is out of reach. */
export const ROWS_OF_ALL = 65_536;

export type ComputeType = 'f32' | 'bf16';

/** A model folder, and the users that it is asked for. */
export interface ModelFolder {
  readonly name: string;
  readonly folder: string;
  /** Sequences whose last items are held out. */
  readonly sequencesPath: string;
}

/** Items bound to the engine as a catalogue of their own. */
interface Bound {
  readonly catalogue: ChangingCatalogue;
  readonly binding: Binding;
}

/** A recall: certified with a row budget, else a beam of the width (left out: the service's). */
export interface Ask {
  readonly rowBudget?: number;
  readonly width?: number;
  readonly resultCount: number;
  readonly itemsPerSid?: number;
  readonly scoreNorm?: ScoreNorm;
  readonly reach?: Reach;
  /** An item is watched: then the engine computes every row of a beam. */
  readonly isEager?: boolean;
}

export const certified = (resultCount: number, rowBudget = ROWS_ENOUGH): Ask => ({
  rowBudget,
  resultCount,
});
export const beam = (width: number, resultCount: number): Ask => ({ width, resultCount });
/** As beams were before they left out rows that cannot reach the answer. */
export const eagerBeam = (width: number, resultCount: number): Ask => ({
  width,
  resultCount,
  isEager: true,
});

/** A model with its catalogue and users in an engine of this process. */
export class SearchModel {
  private nodesBound: Bound | undefined;
  private watched: Pick<EngineRequest, 'reach' | 'watchedItem'> | undefined;
  private readonly opened: ChangingCatalogue[] = [];
  private readonly files = temporaryFolder({});
  readonly nodes: readonly TrieNode[];
  readonly sids: readonly (readonly SuiteItem[])[];
  private all: Bound | undefined;

  private constructor(
    readonly name: string,
    readonly items: readonly SuiteItem[],
    private readonly engine: NativeEngine,
    private readonly tokens: LevelTokens,
  ) {
    this.sids = bySid(items);
    this.nodes = trieNodes(this.sids.map(([first]) => first?.sid ?? []));
  }

  static async open(
    { name, folder }: Pick<ModelFolder, 'name' | 'folder'>,
    computeType: ComputeType = 'f32',
  ): Promise<SearchModel> {
    const items = readItems(join(folder, 'catalogue.jsonl'));
    const template = await loadTemplate(folder);
    const compiled = new CompiledTemplate(template, await loadTokenizer(folder), levelSizes(items));
    const { vocabulary: _, ...limits } = engineLimits(loadConfig().config.engine);
    const engine = await NativeEngine.open({
      ...limits,
      threadCount: 1,
      batchRowsMax: WIDTH_MAX,
      widthMax: WIDTH_MAX,
      resultCountMax: RESULTS_MAX,
      scoreItemsMax: SCORED_AT_ONCE,
      modelPath: folder,
      computeType,
      activationScalesPath: '',
    });
    const model = new SearchModel(name, items, engine, compiled.levelTokens);
    try {
      model.all = await model.bind('items', items);
      return model;
    } catch (error) {
      await model.close();
      throw error;
    }
  }

  /** Levels of the deepest SID: passes of a beam, that of the prompt included. */
  get depth(): number {
    return Math.max(...this.nodes.map(({ path }) => path.length));
  }

  /** Of all items: as it changes. */
  get catalogue(): ChangingCatalogue {
    return this.bound.catalogue;
  }

  reach(request: ReachRequest): Promise<Reach> {
    return this.bound.catalogue.reach(request);
  }

  async recall(promptTokens: Int32Array, ask: Ask): Promise<EngineAnswer> {
    const { rowBudget, width = BEAM_WIDTH, itemsPerSid = 1, scoreNorm = 'full' } = ask;
    const request: EngineRequest = {
      ...(ask.isEager === true ? await this.watching() : {}),
      ...(ask.reach === undefined ? {} : { reach: ask.reach }),
      resultCount: ask.resultCount,
      binding: this.bound.binding,
      promptTokens,
      widths: [width],
      rowBudget,
      itemsPerSid,
      scoreNorm,
      priority: 'normal',
      budgetUs: BUDGET_US,
    };
    return this.engine.recall(request);
  }

  private async watching(): Promise<Pick<EngineRequest, 'reach' | 'watchedItem'>> {
    this.watched ??= {
      reach: await this.reach(EVERY_ITEM),
      watchedItem: this.bound.catalogue.view().find([this.items[0]?.itemId ?? ''])[0],
    };
    return this.watched;
  }

  /** Scores of all SIDs of some items, in their order, where nothing but these may be had. */
  async scoresOf(
    items: readonly SuiteItem[],
    promptTokens: Int32Array,
    scoreNorm: ScoreNorm,
    bound: Bound = this.bound,
  ): Promise<number[]> {
    const sids = bySid(items).map(([first]) => first?.sid ?? []);
    return this.scored(bound, sids, promptTokens, scoreNorm);
  }

  /** The items alone as a catalogue of their own, whose norms over candidates are of these. */
  bindOnly(name: string, items: readonly SuiteItem[]): Promise<Bound> {
    return this.bind(name, items);
  }

  /** Scores of all nodes of the trie, in their order. */
  async nodeScores(promptTokens: Int32Array): Promise<number[]> {
    const paths = this.nodes.map(({ path }) => path);
    return this.scored(await this.boundNodes(), paths, promptTokens, 'full');
  }

  /** Of the first codes, in nats. */
  async firstEntropy(promptTokens: Int32Array): Promise<number> {
    const first = this.nodes.filter(({ path }) => path.length === 1).map(({ path }) => path);
    const scores = await this.scored(await this.boundNodes(), first, promptTokens, 'allowed');
    return -scores.reduce((sum, score) => sum + score * Math.exp(score), 0);
  }

  async close(): Promise<void> {
    await this.engine.close();
    for (const catalogue of this.opened) catalogue.close();
    this.files.remove();
  }

  private get bound(): Bound {
    if (this.all === undefined) throw new Error('expected a model that is open');
    return this.all;
  }

  /** A catalogue that ends at every prefix: the engine scores paths that have items. */
  private async boundNodes(): Promise<Bound> {
    this.nodesBound ??= await this.bind(
      'nodes',
      this.nodes.map(({ path: sid }, at) => {
        return { itemId: `${at}`, sid, priority: 0, campaign: '', bid: 0 };
      }),
    );
    return this.nodesBound;
  }

  private async bind(name: string, items: readonly SuiteItem[]): Promise<Bound> {
    const source = join(this.files.path, `${name}.jsonl`);
    writeFileSync(source, items.map(lineOf).join(''));
    const outputPath = join(this.files.path, `${name}.snapshot`);
    const build = {
      sources: [{ path: source, domain: '' }],
      titlesPath: '',
      levelSizes: levelSizes(this.items),
      outputPath,
    };
    await buildCatalogue(build, () => undefined);
    const catalogue = await openCatalogue(outputPath);
    this.opened.push(catalogue);
    return { catalogue, binding: this.engine.bind(catalogue, this.tokens) };
  }

  private async scored(
    { binding }: Bound,
    sids: readonly (readonly number[])[],
    promptTokens: Int32Array,
    scoreNorm: ScoreNorm,
  ): Promise<number[]> {
    const scores: number[] = [];
    for (let begin = 0; begin < sids.length; begin += SCORED_AT_ONCE) {
      const answer = await this.engine.score({
        binding,
        promptTokens,
        sids: sids.slice(begin, begin + SCORED_AT_ONCE),
        scoreNorm,
        priority: 'normal',
        budgetUs: BUDGET_US,
      });
      scores.push(...answer.scores.map((score) => score ?? Number.NEGATIVE_INFINITY));
    }
    return scores;
  }
}

/** Opens, measures and closes, whatever happens in between. */
export async function withModel<T>(
  opened: Promise<SearchModel>,
  measure: (model: SearchModel) => Promise<T>,
): Promise<T> {
  const model = await opened;
  try {
    return await measure(model);
  } finally {
    await model.close();
  }
}

/** A user of the test, with the prompt that the service would give the engine. */
export interface TestUser {
  readonly prompt: Int32Array;
  /** Their next item. */
  readonly target: string;
}

/** As many users by seed. */
export async function testUsers(model: ModelFolder, count: number): Promise<TestUser[]> {
  const flags = Flags.parse(['--model', model.folder, '--threads', '1'], MODEL_FLAGS);
  const options = runtimeOptions(flags, () => undefined);
  const { cases } = await readCases({
    sequencesPath: model.sequencesPath,
    targetsPath: undefined,
    itemsMax: options.recall.historyItemsMax,
    usersMax: undefined,
  });
  const known = new Set(readItems(join(model.folder, 'catalogue.jsonl')).map((one) => one.itemId));
  const usable = cases.filter(({ history }) => history.some((itemId) => known.has(itemId)));
  const drawn = shuffled(usable, new Random(SEED)).slice(0, count);
  const prompts = await promptsOf(options, drawn);
  return drawn.map(({ target }, at) => ({ target, prompt: prompts[at] as Int32Array }));
}

function shuffled(cases: readonly Case[], random: Random): Case[] {
  const drawn = [...cases];
  for (let at = drawn.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [drawn[at], drawn[other]] = [drawn[other] as Case, drawn[at] as Case];
  }
  return drawn;
}

function readItems(path: string): SuiteItem[] {
  const random = new Random(SEED);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { item_id: itemId, sid } = JSON.parse(line) as { item_id: unknown; sid: number[] };
    return { itemId: String(itemId), sid, ...drawAttributes(random) };
  });
}

function lineOf({ itemId, sid, priority, campaign, bid }: SuiteItem): string {
  const item = { item_id: itemId, sid, priority, attributes: { campaign, bid } };
  return `${JSON.stringify(item)}\n`;
}

function levelSizes(items: readonly SuiteItem[]): number[] {
  const sizes: number[] = [];
  for (const { sid } of items) {
    for (const [level, code] of sid.entries()) sizes[level] = Math.max(sizes[level] ?? 0, code + 1);
  }
  return sizes;
}

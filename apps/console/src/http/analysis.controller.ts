import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import {
  type Asking,
  ad,
  composition,
  factSchema,
  items,
  kept,
  overview,
  REWARDS,
  reach,
  TABLE_NAMES,
  TABLES,
  unreached,
  versions,
} from '@tessera/analysis';
import { TesseraError } from '@tessera/errors';
import { MILLISECONDS_PER_MINUTE } from '@tessera/units';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { askedFields, attributeOf, filterOf } from '../analysis-fields.js';
import type { AnalysisPort } from '../analysis-port.js';
import type {
  AdPage,
  AnalysisAbout,
  CompositionPage,
  ItemsPage,
  OutcomesPage,
  OverviewPage,
  ReachPage,
  SchemaPage,
  UnreachedPage,
  UserChangePage,
  VersionsPage,
} from '../api-types.js';
import { AskedOutcomes, targetOf } from '../asked-outcomes.js';
import { ConsoleParts } from '../console-parts.js';
import { type Fields, fieldsOf, integerOf, invalid, optionalText, textOf } from '../fields.js';
import { Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';
import type { TablePage } from '../table-types.js';
import { UserChanges } from '../user-changes.js';

const ID_LENGTH_MAX = 1024;
const BUCKETS = { min: 1, max: 200, fallback: 48 };
const ROWS = { min: 1, max: 10_000, fallback: 200 };
const PAGE = { min: 1, max: 500, fallback: 50 };
const VALUES = { min: 1, max: 50, fallback: 12 };
const ASKED = { min: 1, max: 5000, fallback: 1000 };
const OFFSET = { min: 0, max: 10_000_000, fallback: 0 };
/** Milliseconds of recalls in a file of facts, and until it is written. */
const FILE_MS = 2 * MILLISECONDS_PER_MINUTE;
const NOTHING_KEPT = {
  isKept: false,
  store: 'duckdb',
  keptFromMs: 0,
  keptToMs: 0,
  recalls: 0,
  behaviours: 0,
  bytes: 0,
  files: 0,
  keepMs: 0,
  keepBytes: 0,
  lost: [],
  fault: '',
  factShare: 0,
  recordShare: 0,
  sceneKeys: [],
  attributes: [],
} as const satisfies AnalysisAbout;

/** Questions of analysts over the facts of all recalls (docs/operate/analysis.md). */
@Controller('console/api/analysis')
export class AnalysisController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly userChanges: UserChanges,
    private readonly outcomes: AskedOutcomes,
  ) {}

  @Get('about')
  async about(@Req() request: FastifyRequest): Promise<AnalysisAbout> {
    await this.gate.look(request);
    const { analysis } = this.parts;
    if (analysis === undefined) return NOTHING_KEPT;
    await analysis.refresh();
    const { bytes, files, lost, fault } = await analysis.state();
    const { keepMs, keepBytes, recordShare } = analysis;
    const own = await kept(analysis.asking);
    const limits = { keepMs, keepBytes, recordShare, factShare: 1, isKept: true };
    const store = analysis.asking.store.dialect.name;
    const state = { store, bytes, files, lost, fault };
    return Object.assign(limits, state, own);
  }

  @Get('schema')
  async schema(@Req() request: FastifyRequest): Promise<SchemaPage> {
    await this.gate.look(request);
    return { tables: factSchema() };
  }

  @Get('overview')
  async overview(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OverviewPage> {
    const { asking, fields } = await this.asked(request, query, ['buckets'], reply);
    return overview(asking, await this.withFacts(fields), integerOf(fields, 'buckets', BUCKETS));
  }

  @Get('composition')
  async composition(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CompositionPage> {
    const names = ['by', 'buckets', 'across', 'values'];
    const { asking, fields } = await this.asked(request, query, names, reply);
    const attribute = attributeOf(fields, 'by');
    if (attribute === '') throw invalid('by', 'the name of an attribute', 'nothing');
    return composition(asking, await this.withFacts(fields), {
      attribute,
      buckets: integerOf(fields, 'buckets', BUCKETS),
      across: attributeOf(fields, 'across'),
      values: integerOf(fields, 'values', VALUES),
    });
  }

  @Get('reach')
  async reach(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReachPage> {
    const { asking, fields } = await this.asked(request, query, ['by', 'at', 'limit'], reply);
    const filter = this.filter(fields);
    const atMs = integerOf(fields, 'at', { min: filter.fromMs + 1, max: filter.toMs - 1 });
    const by = attributeOf(fields, 'by') || 'item';
    return reach(asking, filter, { by, atMs, limit: integerOf(fields, 'limit', ROWS) });
  }

  @Get('unreached')
  async unreached(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UnreachedPage> {
    const { asking, fields } = await this.asked(request, query, ['by', 'limit'], reply);
    const limit = integerOf(fields, 'limit', ROWS);
    return unreached(asking, this.filter(fields), { by: attributeOf(fields, 'by'), limit });
  }

  @Get('versions')
  async versions(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VersionsPage> {
    const { asking, fields } = await this.asked(request, query, ['by', 'arms'], reply);
    const { arms = 'together' } = fields;
    if (arms !== 'together' && arms !== 'span') throw invalid('arms', 'together or span', arms);
    const attribute = attributeOf(fields, 'by');
    return versions(asking, this.filter(fields), { attribute, isWhole: arms === 'span' });
  }

  /** Estimates of a target, for which recorded recalls that explored are asked again. */
  @Get('outcomes')
  async outcome(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OutcomesPage> {
    const { asking, fields } = await this.asked(
      request,
      query,
      ['what', 'reward', 'recalls'],
      reply,
    );
    const { reward = 'click' } = fields;
    const rewards = REWARDS.find((one) => one === reward);
    if (rewards === undefined) throw invalid('reward', REWARDS.join(', '), reward);
    return this.outcomes.page(asking, this.filter(fields), {
      target: targetOf(textOf(fields, 'what', ID_LENGTH_MAX)),
      reward: rewards,
      recallsMax: integerOf(fields, 'recalls', ASKED),
    });
  }

  /** Bids, spend, new ads, exploration or heads, as a table. */
  @Get('tables/:name')
  async table(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TablePage> {
    const { asking, fields } = await this.asked(request, query, ['by', 'bid'], reply);
    const table = TABLE_NAMES.find((one) => one === name);
    if (table === undefined) throw invalid('name', TABLE_NAMES.join(', '), name);
    const [by, bid] = [attributeOf(fields, 'by'), attributeOf(fields, 'bid') || 'bid'];
    return TABLES[table](asking, this.filter(fields), { by, bid });
  }

  @Get('ads/:id')
  async ad(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdPage> {
    const { asking, fields } = await this.asked(request, query, [], reply, { id });
    return ad(asking, this.filter(fields), id.slice(0, ID_LENGTH_MAX));
  }

  @Get('items')
  async items(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ItemsPage> {
    const names = ['text', 'live', 'offset', 'limit'];
    const { asking, fields } = await this.asked(request, query, names, reply);
    const { live } = fields;
    if (live !== undefined && live !== 'true' && live !== 'false') {
      throw invalid('live', 'true or false', live);
    }
    return items(asking, this.filter(fields), {
      text: optionalText(fields, 'text', ID_LENGTH_MAX) ?? '',
      isLive: live === undefined ? undefined : live === 'true',
      offset: integerOf(fields, 'offset', OFFSET),
      limit: integerOf(fields, 'limit', PAGE),
    });
  }

  /** Why two recorded recalls of a user differ. */
  @Get('change')
  async change(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserChangePage> {
    await this.gate.look(request);
    const fields = fieldsOf(query, ['left', 'right']);
    const [left, right] = ['left', 'right'].map((name) => textOf(fields, name, ID_LENGTH_MAX));
    return this.userChanges.between(left ?? '', right ?? '', goneSignal(reply));
  }

  private filter(fields: Fields) {
    return filterOf(fields, this.parts.nowMs());
  }

  /** The filter from where facts begin, if it begins before: buckets without any say nothing. */
  private async withFacts(fields: Fields) {
    const filter = this.filter(fields);
    const { oldestMs } = await this.kept().state();
    // The oldest file has the minute in which it was written, behind those of its recalls.
    const beginMs = oldestMs - FILE_MS;
    const isBefore = oldestMs > 0 && filter.fromMs < beginMs && beginMs < filter.toMs;
    return isBefore ? { ...filter, fromMs: beginMs } : filter;
  }

  private kept(): AnalysisPort {
    const { analysis } = this.parts;
    if (analysis !== undefined) return analysis;
    const message = 'inspection.path: expected a folder of facts, got none';
    throw new TesseraError('STORE_UNAVAILABLE', message, { field: 'inspection.path' });
  }

  private async asked(
    request: FastifyRequest,
    query: unknown,
    names: readonly string[],
    reply: FastifyReply,
    path?: Fields,
  ): Promise<{ asking: Asking; fields: Fields }> {
    await this.gate.look(request);
    const fields = askedFields(query, names, path);
    const { asking, refresh } = this.kept();
    await refresh();
    return { asking: Object.assign({ signal: goneSignal(reply) }, asking), fields };
  }
}

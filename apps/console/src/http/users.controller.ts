import { Controller, Delete, Get, Param, Query, Req } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { FastifyRequest } from 'fastify';
import type { DescribedItem, ItemPlace, KvChainView, UserPage } from '../api-types.js';
import { CatalogueNames } from '../catalogue-names.js';
import { ClusterNodes } from '../cluster-nodes.js';
import { ConsoleParts } from '../console-parts.js';
import { sampledOf } from '../domain/sampled.js';
import { fieldsOf, integerOf, optionalText, SEED_BOUNDS, textOf } from '../fields.js';
import { Gate } from '../gate.js';
import { Recorded } from '../recorded.js';

const BEHAVIOURS_SHOWN = 500;
const USERS_MAX = 1000;
/** Users that a sample is drawn from. */
const SAMPLED_OF = 100_000;
const TEXT_LENGTH_MAX = 200;
const FOUND_MAX = 20;
/** Items that are looked at for a text; a larger catalogue is searched as far as that. */
const SEARCHED_MAX = 100_000;

/** A chain of the KV pool without what only the pool needs. */
const chainView = (chain: KvChainView): KvChainView => ({
  version: chain.version,
  isRetired: chain.isRetired,
  tokens: chain.tokens,
  deviceTokens: chain.deviceTokens,
  hostTokens: chain.hostTokens,
  diskTokens: chain.diskTokens,
  durableTokens: chain.durableTokens,
  versionsBack: chain.versionsBack,
});

@Controller('console/api')
export class UsersController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
    private readonly nodes: ClusterNodes,
    private readonly names: CatalogueNames,
  ) {}

  /** Users that can be recalled for: by their beginning, or by chance where there is a seed. */
  @Get('users')
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ readonly userIds: readonly string[] }> {
    await this.gate.look(request);
    const fields = fieldsOf(query, ['limit', 'prefix', 'seed']);
    const limit = integerOf(fields, 'limit', { min: 1, max: USERS_MAX, fallback: 50 });
    const prefix = optionalText(fields, 'prefix', TEXT_LENGTH_MAX) ?? '';
    const { facts } = this.parts.runtime;
    if (fields.seed === undefined) return { userIds: await facts.sampleUserIds(limit, prefix) };
    const seed = integerOf(fields, 'seed', SEED_BOUNDS);
    const known = await facts.sampleUserIds(SAMPLED_OF, prefix);
    return { userIds: sampledOf(known, limit, seed) };
  }

  @Get('users/:id')
  async page(@Req() request: FastifyRequest, @Param('id') userId: string): Promise<UserPage> {
    await this.gate.look(request);
    const { node, fault } = await this.nodes.keeperOf(request, userId);
    if (node === undefined) return this.own(userId, fault);
    try {
      const path = `users/${encodeURIComponent(userId)}`;
      const page = await this.nodes.ask<UserPage>(node, { method: 'GET', path });
      return Object.assign(page, { fault });
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      if (code === 'USER_NOT_FOUND') throw thrown;
      return this.own(userId, message);
    }
  }

  /** @param fault why the owner's keys and values are not shown; '': they are */
  private async own(userId: string, fault: string): Promise<UserPage> {
    const { runtime } = this.parts;
    const user = await runtime.facts.user(userId, BEHAVIOURS_SHOWN);
    if (user === null) {
      throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
        field: 'userId',
      });
    }
    const described = this.recorded.describe(user.behaviours.map(({ itemId }) => itemId));
    return {
      userId,
      profile: user.profile,
      behaviours: user.behaviours.map(({ itemId, action, time }) => {
        const { title = '', sid = [] } = described[itemId] ?? {};
        return { itemId, action, time, title, sid };
      }),
      chains: runtime.facts.kvPool.inspect(userId).map(chainView),
      node: this.nodes.own,
      fault,
    };
  }

  /** Forgets a user: behaviours, profile, keys and values, recorded recalls. */
  @Delete('users/:id')
  erase(
    @Req() request: FastifyRequest,
    @Param('id') userId: string,
  ): Promise<{ readonly known: boolean; readonly recalls: number }> {
    const action = { action: 'erase-user', role: 'operate', name: userId } as const;
    return this.gate.act(request, action, async () => {
      const { eraseUser } = this.parts;
      if (eraseUser === undefined) {
        const message = 'behaviours.store: expected one that can erase users, got another';
        throw new TesseraError('REQUEST_INVALID', message, { field: 'behaviours.store' });
      }
      const erased = await eraseUser(userId);
      const { gateway, forget } = this.parts.cluster;
      // The other nodes have keys and values of the user as well.
      if (gateway !== '') await forget(userId);
      return erased;
    });
  }

  /** Items by their ID, or by a part of their title. */
  @Get('items')
  async items(@Req() request: FastifyRequest, @Query() query: unknown) {
    await this.gate.look(request);
    const text = textOf(fieldsOf(query, ['text']), 'text', TEXT_LENGTH_MAX);
    const [byId] = this.parts.runtime.facts.describe([text]);
    const { found, isWhole } = await this.titled(text.toLowerCase());
    const others = found.filter((item) => item.itemId !== byId?.itemId);
    return { items: [...(byId === undefined ? [] : [byId]), ...others], isWhole };
  }

  @Get('items/:id/place')
  async place(@Req() request: FastifyRequest, @Param('id') id: string): Promise<ItemPlace> {
    await this.gate.look(request);
    const place = await this.names.place(id);
    if (place !== null) return place;
    const message = `item: expected the ID of one in the catalogue, got '${id.slice(0, 80)}'`;
    throw new TesseraError('ITEM_NOT_FOUND', message, { field: 'item' });
  }

  private async titled(text: string): Promise<{ found: DescribedItem[]; isWhole: boolean }> {
    const { pages } = await this.parts.runtime.operations.changesOf('').listItems();
    const found: DescribedItem[] = [];
    let searched = 0;
    for (const page of pages) {
      const hits = page.filter((item) => item.title.toLowerCase().includes(text));
      for (const { itemId, title, attributes, sid } of hits.slice(0, FOUND_MAX - found.length)) {
        found.push({ itemId, title, attributes, sid });
      }
      searched += page.length;
      if (found.length >= FOUND_MAX || searched >= SEARCHED_MAX) return { found, isWhole: false };
      // A turn of the event loop between pages: recalls go on meanwhile.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return { found, isWhole: true };
  }
}

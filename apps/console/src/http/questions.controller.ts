import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { SQL_LENGTH_MAX } from '@tessera/inspection';
import type { FastifyRequest } from 'fastify';
import type { SavedQuestion } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, textOf } from '../fields.js';
import { checkAuthor, Gate } from '../gate.js';

const NAME_LENGTH_MAX = 200;

@Controller('console/api/questions')
export class QuestionsController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  /** Questions of everybody, by name. */
  @Get()
  async list(
    @Req() request: FastifyRequest,
  ): Promise<{ readonly questions: readonly SavedQuestion[] }> {
    await this.gate.look(request);
    return { questions: await this.parts.questions.list() };
  }

  /** Takes the place of one of the same name and author. */
  @Post()
  @HttpCode(200)
  async save(@Req() request: FastifyRequest, @Body() body: unknown): Promise<SavedQuestion> {
    await this.gate.ask(request);
    const fields = fieldsOf(body, ['name', 'sql']);
    const name = textOf(fields, 'name', NAME_LENGTH_MAX);
    const sql = textOf(fields, 'sql', SQL_LENGTH_MAX);
    const action = { action: 'save-question', role: 'read', name } as const;
    return this.gate.act(request, action, async (visitor) => {
      const question = { name, sql, author: visitor.name, timeMs: this.parts.nowMs() };
      await this.parts.questions.save(question, ({ author }) =>
        checkAuthor(visitor, author, 'question'),
      );
      return question;
    });
  }

  @Delete(':name')
  remove(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
  ): Promise<{ readonly removed: boolean }> {
    const action = { action: 'remove-question', role: 'read', name } as const;
    return this.gate.act(request, action, async (visitor) => ({
      removed: await this.parts.questions.remove(name, ({ author }) =>
        checkAuthor(visitor, author, 'question'),
      ),
    }));
  }
}

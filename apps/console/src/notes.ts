import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Note } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { fieldsOf, textOf } from './fields.js';
import { checkAuthor, Gate } from './gate.js';
import { Recorded } from './recorded.js';

const NOTE_LENGTH_MAX = 4000;

/** Notes that analysts write to a recall or a comparison. */
@Injectable()
export class Notes {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
  ) {}

  /** @param look rejects where there is nothing of the ID */
  add(
    request: FastifyRequest,
    id: string,
    body: unknown,
    look: (id: string) => Promise<unknown>,
  ): Promise<Note> {
    const action = { action: 'add-note', role: 'read', name: id } as const;
    return this.gate.act(request, action, async ({ name: author }) => {
      const text = textOf(fieldsOf(body, ['text']), 'text', NOTE_LENGTH_MAX);
      const { store } = this.recorded;
      await look(id);
      const note = { id: randomUUID(), recallId: id, timeMs: this.parts.nowMs(), author, text };
      await store.shelf.addNote(note);
      return note;
    });
  }

  remove(
    request: FastifyRequest,
    id: string,
    note: string,
  ): Promise<{ readonly removed: boolean }> {
    const detail = `note ${note}`;
    const action = { action: 'remove-note', role: 'read', name: id, detail } as const;
    return this.gate.act(request, action, async (visitor) => {
      const { shelf } = this.recorded.store;
      const found = (await shelf.notes(id)).find((one) => one.id === note);
      if (found === undefined) return { removed: false };
      checkAuthor(visitor, found.author, 'note');
      return { removed: await shelf.removeNote(note) };
    });
  }
}

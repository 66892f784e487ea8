/** Something that is given back once; to give it back again does nothing. */
export interface Taken {
  release(): void;
}

/** The things that one request has taken. Its owner is RequestScopes: nothing else gives back. */
export class RequestScope {
  private readonly taken: Taken[] = [];

  /** Gives it back when the request ends. */
  keep<Thing extends Taken>(thing: Thing): Thing {
    this.taken.push(thing);
    return thing;
  }

  /** Newest first. */
  end(): void {
    for (const thing of this.taken.splice(0).reverse()) thing.release();
  }
}

/** The scopes of the requests under way: each ends with its request, on whichever path. */
export class RequestScopes {
  private count = 0;

  get open(): number {
    return this.count;
  }

  async run<Answer>(act: (scope: RequestScope) => Promise<Answer>): Promise<Answer> {
    const scope = new RequestScope();
    this.count += 1;
    try {
      return await act(scope);
    } finally {
      this.count -= 1;
      scope.end();
    }
  }
}

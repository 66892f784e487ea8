import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';

/**
 * What a handler of a topic throws reaches the transport as it is, which tries again and says why.
 */
@Catch()
export class TopicErrorFilter implements RpcExceptionFilter<unknown> {
  catch(thrown: unknown): Observable<never> {
    return throwError(() => thrown);
  }
}

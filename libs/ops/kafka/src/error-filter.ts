import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';

/**
 * An error of a topic's handler reaches the transport as it is, which retries and logs the reason.
 */
@Catch()
export class TopicErrorFilter implements RpcExceptionFilter<unknown> {
  catch(thrown: unknown): Observable<never> {
    return throwError(() => thrown);
  }
}

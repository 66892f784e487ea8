import { type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import { CallDeadlines } from './direct/call-deadlines.js';

const deadlines = new CallDeadlines();

/**
 * Ends a call with DEADLINE_EXCEEDED where a message that is waited for does not come in time: its
 * handler hears of it as of a caller that went, and gives back what it holds for the call.
 * Messages that the server does not ask for yet are not waited for.
 */
export function boundMessageTime(call: ServerInterceptingCallInterface, bodyMs: number): void {
  const details = `grpc.bodyMs: expected a message of the request within ${bodyMs} ms, got none`;
  let forget: () => void = () => undefined;
  const late = () => call.sendStatus({ code: status.DEADLINE_EXCEEDED, details, metadata: null });
  const wait = () => {
    forget();
    forget = deadlines.add(performance.now() + bodyMs, late);
  };
  const [start, startRead] = [call.start.bind(call), call.startRead.bind(call)];
  call.start = (listener) => {
    const { onReceiveMessage, onReceiveHalfClose, onCancel } = listener;
    listener.onReceiveMessage = (message) => {
      forget();
      onReceiveMessage.call(listener, message);
    };
    listener.onReceiveHalfClose = () => {
      forget();
      onReceiveHalfClose.call(listener);
    };
    listener.onCancel = () => {
      forget();
      onCancel.call(listener);
    };
    start(listener);
  };
  call.startRead = () => {
    wait();
    startRead();
  };
}

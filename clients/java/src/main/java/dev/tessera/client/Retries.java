package dev.tessera.client;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/** Repeats of calls within their deadline, by the hints of the service. */
final class Retries {
  private static final int ATTEMPTS_MAX = 4;
  private static final Duration FIRST_WAIT = Duration.ofMillis(20);

  private Retries() {}

  /** How long to wait before the next attempt; empty: it would not help, or be too late. */
  static Optional<Duration> waitBeforeRetry(TesseraException failed, int attempt, Duration left) {
    boolean isLate = failed.code().equals(TesseraException.DEADLINE_EXCEEDED);
    if (!failed.retryable() || isLate || attempt + 1 >= ATTEMPTS_MAX) {
      return Optional.empty();
    }
    boolean isHinted = !failed.retryAfter().isZero();
    Duration wait = isHinted ? failed.retryAfter() : FIRST_WAIT.multipliedBy(1L << attempt);
    return wait.compareTo(left) < 0 ? Optional.of(wait) : Optional.empty();
  }

  /** Calls with the time that is left until an attempt succeeds, none would help or it is over. */
  static <Answer> Answer within(Duration deadline, Function<Duration, Answer> call) {
    long until = System.nanoTime() + deadline.toNanos();
    for (int attempt = 0; ; attempt++) {
      try {
        return call.apply(Duration.ofNanos(Math.max(0, until - System.nanoTime())));
      } catch (StatusRuntimeException thrown) {
        TesseraException failed = TesseraException.of(thrown);
        Duration left = Duration.ofNanos(until - System.nanoTime());
        Duration wait = waitBeforeRetry(failed, attempt, left).orElseThrow(() -> failed);
        try {
          Thread.sleep(wait.toMillis(), wait.toNanosPart() % 1_000_000);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw failed;
        }
      }
    }
  }
}

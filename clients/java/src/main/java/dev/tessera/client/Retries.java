package dev.tessera.client;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** Repeats of one client's calls within their deadlines. The calls share one budget. */
final class Retries {
  private static final int ATTEMPTS_MAX = 4;
  private static final Duration FIRST_WAIT = Duration.ofMillis(20);

  /** Callers that were refused together come back apart: waits differ by up to this share. */
  private static final double JITTER = 0.2;

  /** The budget of gRFC A6 (retryThrottling): repeats only while over half its tokens are left. */
  private static final int TOKENS_MAX = 10;

  private static final double TOKEN_RATIO = 0.1;

  /** Share of the newest answer in the smoothed time of answers, as RFC 6298 has it. */
  private static final double ANSWER_WEIGHT = 0.125;

  /** Waits. */
  interface Sleeper {
    void sleep(Duration wait) throws InterruptedException;
  }

  private final LongSupplier nanoTime;
  private final Sleeper sleeper;
  private final DoubleSupplier random;
  private double tokens = TOKENS_MAX;

  /** Smoothed time of answers; null before the first. */
  private Duration answer;

  Retries() {
    this(
        System::nanoTime,
        wait -> Thread.sleep(wait.toMillis(), wait.toNanosPart() % 1_000_000),
        () -> ThreadLocalRandom.current().nextDouble());
  }

  /** {@code random} draws from [0, 1), on any thread. */
  Retries(LongSupplier nanoTime, Sleeper sleeper, DoubleSupplier random) {
    this.nanoTime = nanoTime;
    this.sleeper = sleeper;
    this.random = random;
  }

  /** Calls with the time that is left until an attempt succeeds or waitAfter allows no other. */
  <Answer> Answer within(Duration deadline, Function<Duration, Answer> call) {
    long until = nanoTime.getAsLong() + deadline.toNanos();
    for (int attempt = 0; ; attempt++) {
      long began = nanoTime.getAsLong();
      try {
        Answer answer = call.apply(Duration.ofNanos(Math.max(0, until - began)));
        answered(Duration.ofNanos(nanoTime.getAsLong() - began));
        return answer;
      } catch (StatusRuntimeException thrown) {
        TesseraException failed = TesseraException.of(thrown);
        Duration left = Duration.ofNanos(until - nanoTime.getAsLong());
        Duration wait = waitAfter(failed, attempt, left).orElseThrow(() -> failed);
        try {
          sleeper.sleep(wait);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw failed;
        }
      }
    }
  }

  /**
   * How long to wait before the next attempt, after a failure that takes a token where it is
   * retryable. Empty: a repeat would not help, exceeds the budget, or leaves too little time for an
   * answer (as much as answers took lately; before the first one, as much as the wait).
   */
  synchronized Optional<Duration> waitAfter(
      TesseraException failed, int attempt, Duration left) {
    if (!failed.retryable() || failed.code().equals(TesseraException.DEADLINE_EXCEEDED)) {
      return Optional.empty();
    }
    tokens = Math.max(0, tokens - 1);
    if (attempt + 1 >= ATTEMPTS_MAX || tokens <= TOKENS_MAX / 2.0) {
      return Optional.empty();
    }
    double drawn = JITTER * random.getAsDouble();
    Duration wait =
        failed.retryAfter().isZero()
            ? times(FIRST_WAIT.multipliedBy(1L << attempt), 1 - JITTER + 2 * drawn)
            : times(failed.retryAfter(), 1 + drawn);
    Duration needed = answer == null ? wait : answer;
    return wait.plus(needed).compareTo(left) <= 0 ? Optional.of(wait) : Optional.empty();
  }

  /** Counts a success. */
  synchronized void answered(Duration took) {
    tokens = Math.min(TOKENS_MAX, tokens + TOKEN_RATIO);
    Duration before = answer == null ? took : answer;
    answer = before.plus(times(took.minus(before), ANSWER_WEIGHT));
  }

  private static Duration times(Duration duration, double factor) {
    return Duration.ofNanos((long) (duration.toNanos() * factor));
  }
}

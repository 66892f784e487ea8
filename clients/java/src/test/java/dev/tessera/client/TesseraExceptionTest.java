package dev.tessera.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Errors made of trailers, well-formed or not. */
class TesseraExceptionTest {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private static TesseraException read(Status status, byte[] details) {
    Metadata trailers = new Metadata();
    trailers.put(DETAILS, details);
    return TesseraException.of(status.asRuntimeException(trailers));
  }

  private static byte[] details(int code, long seconds, int nanos) {
    ErrorInfo info =
        ErrorInfo.newBuilder()
            .setReason("ENGINE_OVERLOADED")
            .putMetadata("retryable", "true")
            .build();
    RetryInfo.Builder retry = RetryInfo.newBuilder();
    retry.getRetryDelayBuilder().setSeconds(seconds).setNanos(nanos);
    return com.google.rpc.Status.newBuilder()
        .setCode(code)
        .addDetails(Any.pack(info))
        .addDetails(Any.pack(retry.build()))
        .build()
        .toByteArray();
  }

  private static Duration hint(long seconds, int nanos) {
    return read(Status.RESOURCE_EXHAUSTED, details(8, seconds, nanos)).retryAfter();
  }

  @Test
  void statusAndDetailsMayDifferByACode() {
    TesseraException failed = read(Status.RESOURCE_EXHAUSTED, details(14, 0, 0));
    assertEquals("ENGINE_OVERLOADED", failed.code());
    assertTrue(failed.retryable());
  }

  @Test
  void detailsThatAreCutOffOrChangedLeaveWhatTheStatusSays() {
    long seed = 3;
    Random random = new Random(seed);
    byte[] whole = details(14, 0, 40_000_000);
    for (int round = 0; round < 2000; round++) {
      int kept = round % 2 == 0 ? whole.length : 1 + random.nextInt(whole.length);
      byte[] some = Arrays.copyOf(whole, kept);
      some[random.nextInt(some.length)] = (byte) random.nextInt(256);
      TesseraException failed = read(Status.UNAVAILABLE, some);
      assertFalse(failed.code().isEmpty(), "seed " + seed + ", round " + round);
      assertFalse(failed.retryAfter().isNegative(), "seed " + seed + ", round " + round);
    }
    TesseraException cut = read(Status.UNAVAILABLE, Arrays.copyOf(whole, 20));
    assertEquals("ENGINE_UNAVAILABLE", cut.code());
    assertTrue(cut.retryable());
    assertEquals("INTERNAL", read(Status.UNKNOWN, Arrays.copyOf(whole, 20)).code());
  }

  @Test
  void hintsArePositiveTimes() {
    assertEquals(Duration.ofMillis(40), hint(0, 40_000_000));
    assertEquals(Duration.ZERO, hint(-5, 0));
    assertEquals(Duration.ZERO, hint(0, -1));
    assertEquals(Duration.ZERO, hint(Long.MIN_VALUE, Integer.MIN_VALUE));
    assertEquals(Duration.ofDays(1), hint(Long.MAX_VALUE, Integer.MAX_VALUE));
  }
}

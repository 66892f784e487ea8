package dev.tessera.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

class RetriesTest {
  private static TesseraException failed(String code, boolean retryable, long retryAfterMs) {
    Duration hint = Duration.ofMillis(retryAfterMs);
    return new TesseraException(code, "later", "", hint, retryable, null);
  }

  private static Optional<Duration> waited(TesseraException failed, int attempt, long leftMs) {
    return Retries.waitBeforeRetry(failed, attempt, Duration.ofMillis(leftMs));
  }

  @Test
  void waitsAsTheServiceSays() {
    TesseraException hinted = failed("ENGINE_OVERLOADED", true, 40);
    TesseraException plain = failed("ENGINE_UNAVAILABLE", true, 0);
    assertEquals(Optional.of(Duration.ofMillis(40)), waited(hinted, 0, 1000));
    assertEquals(Optional.empty(), waited(hinted, 0, 30));
    assertEquals(Optional.of(Duration.ofMillis(80)), waited(plain, 2, 1000));
    assertEquals(Optional.empty(), waited(plain, 3, 1000));
    assertEquals(Optional.empty(), waited(failed("REQUEST_INVALID", false, 0), 0, 1000));
    assertEquals(Optional.empty(), waited(failed("DEADLINE_EXCEEDED", true, 0), 0, 1000));
  }

  @Test
  void neverRepeatsFaultsOfTls() {
    SSLException refused = new SSLException("Received fatal alert: certificate_required");
    Status away = Status.UNAVAILABLE.withDescription("io exception");
    TesseraException ofTls =
        TesseraException.of(away.withCause(new IOException(refused)).asRuntimeException());
    assertEquals("UNAUTHENTICATED", ofTls.code());
    assertEquals(Optional.empty(), waited(ofTls, 0, 1000));
    TesseraException ofSocket =
        TesseraException.of(away.withCause(new IOException("reset")).asRuntimeException());
    assertEquals("ENGINE_UNAVAILABLE", ofSocket.code());
    assertEquals(Optional.of(Duration.ofMillis(20)), waited(ofSocket, 0, 1000));
  }
}

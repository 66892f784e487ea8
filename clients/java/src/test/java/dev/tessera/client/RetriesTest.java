package dev.tessera.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tessera.recall.v1.RecallRequest;
import dev.tessera.recall.v1.RecallResponse;
import dev.tessera.recall.v1.RecallServiceGrpc;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

class RetriesTest {
  private static final long LONG_MS = 60_000;

  /** Draws 0: waits are the hints, and 0.8 of the own waits. */
  private static final DoubleSupplier LOWEST = () -> 0;

  /** Passes only where something waits or an attempt takes 5 ms. */
  private long nowNanos;

  private Retries retries(DoubleSupplier random) {
    return new Retries(() -> nowNanos, wait -> nowNanos += wait.toNanos(), random);
  }

  private static TesseraException failed(String code, boolean retryable, long retryAfterMs) {
    Duration hint = Duration.ofMillis(retryAfterMs);
    return new TesseraException(code, "later", "", hint, retryable, null);
  }

  private static TesseraException overloaded(long retryAfterMs) {
    return failed("ENGINE_OVERLOADED", true, retryAfterMs);
  }

  private static Optional<Duration> waited(
      Retries retries, TesseraException failed, int attempt, long leftMs) {
    return retries.waitAfter(failed, attempt, Duration.ofMillis(leftMs));
  }

  private Optional<Duration> waited(TesseraException failed, int attempt, long leftMs) {
    return waited(retries(LOWEST), failed, attempt, leftMs);
  }

  private static Optional<Duration> ms(long ms) {
    return Optional.of(Duration.ofMillis(ms));
  }

  /** Attempts of a call whose first ones the transport refuses; negative where it fails. */
  private int attempts(Retries retries, int refusals, long deadlineMs) {
    List<Duration> made = new ArrayList<>();
    try {
      return retries.within(
          Duration.ofMillis(deadlineMs),
          left -> {
            made.add(left);
            nowNanos += Duration.ofMillis(5).toNanos();
            if (made.size() <= refusals) {
              throw Status.UNAVAILABLE.withDescription("stream refused").asRuntimeException();
            }
            return made.size();
          });
    } catch (TesseraException failed) {
      assertEquals("ENGINE_UNAVAILABLE", failed.code());
      return -made.size();
    }
  }

  @Test
  void waitsAsTheServiceSaysAndLeavesTimeForAnAnswer() {
    assertEquals(ms(40), waited(overloaded(40), 0, 80));
    assertEquals(Optional.empty(), waited(overloaded(40), 0, 79));
    assertEquals(ms(16), waited(overloaded(0), 0, LONG_MS));
    assertEquals(ms(64), waited(overloaded(0), 2, LONG_MS));
    assertEquals(Optional.empty(), waited(overloaded(0), 3, LONG_MS));
    assertEquals(Optional.empty(), waited(failed("REQUEST_INVALID", false, 0), 0, LONG_MS));
    assertEquals(Optional.empty(), waited(failed("DEADLINE_EXCEEDED", true, 0), 0, LONG_MS));
  }

  @Test
  void waitsVaryUpwardsFromAHintAndBothWaysAroundAnOwnWait() {
    Random random = new Random(7);
    long[] hinted = new long[200];
    long[] plain = new long[200];
    for (int draw = 0; draw < hinted.length; draw++) {
      Retries own = retries(random::nextDouble);
      hinted[draw] = waited(own, overloaded(100), 0, LONG_MS).orElseThrow().toNanos() / 1000;
      plain[draw] = waited(own, overloaded(0), 1, LONG_MS).orElseThrow().toNanos() / 1000;
    }
    var ofHint = IntStream.range(0, hinted.length).mapToLong(at -> hinted[at]).summaryStatistics();
    var own = IntStream.range(0, plain.length).mapToLong(at -> plain[at]).summaryStatistics();
    assertTrue(ofHint.getMin() >= 100_000 && ofHint.getMin() < 105_000, ofHint.toString());
    assertTrue(ofHint.getMax() > 115_000 && ofHint.getMax() < 120_000, ofHint.toString());
    assertTrue(own.getMin() >= 32_000 && own.getMin() < 34_000, own.toString());
    assertTrue(own.getMax() > 46_000 && own.getMax() < 48_000, own.toString());
  }

  @Test
  void leavesAsMuchTimeAsAnswersTookLately() {
    Retries own = retries(LOWEST);
    own.answered(Duration.ofMillis(80));
    assertEquals(ms(10), waited(own, overloaded(10), 0, 90));
    assertEquals(Optional.empty(), waited(own, overloaded(10), 0, 89));
    own.answered(Duration.ofMillis(160));
    assertEquals(ms(10), waited(own, overloaded(10), 0, 100));
    assertEquals(Optional.empty(), waited(own, overloaded(10), 0, 99));
  }

  @Test
  void fiveRefusalsEndRepeatsAndElevenSuccessesAllowOneMore() {
    Retries own = retries(LOWEST);
    assertEquals(-4, attempts(own, 99, LONG_MS));
    assertEquals(-1, attempts(own, 99, LONG_MS));
    for (int success = 0; success < 10; success++) {
      assertEquals(1, attempts(own, 0, LONG_MS));
    }
    assertEquals(-1, attempts(own, 99, LONG_MS));
    for (int success = 0; success < 11; success++) {
      attempts(own, 0, LONG_MS);
    }
    assertEquals(-2, attempts(own, 99, LONG_MS));
  }

  @Test
  void makesNoRepeatThatWouldBeLate() {
    assertEquals(-1, attempts(retries(LOWEST), 99, 36));
    assertEquals(-2, attempts(retries(LOWEST), 99, 37));
  }

  @Test
  void threadsShareTheBudget() {
    Retries own = retries(LOWEST);
    long repeats =
        IntStream.range(0, 800)
            .parallel()
            .filter(at -> waited(own, overloaded(0), 0, LONG_MS).isPresent())
            .count();
    assertEquals(4, repeats);
  }

  @Test
  void neverRepeatsFaultsOfTls() {
    SSLException refused = new SSLException("Received fatal alert: certificate_required");
    Status away = Status.UNAVAILABLE.withDescription("io exception");
    TesseraException ofTls =
        TesseraException.of(away.withCause(new IOException(refused)).asRuntimeException());
    assertEquals("UNAUTHENTICATED", ofTls.code());
    assertEquals(Optional.empty(), waited(ofTls, 0, LONG_MS));
    TesseraException ofSocket =
        TesseraException.of(away.withCause(new IOException("reset")).asRuntimeException());
    assertEquals("ENGINE_UNAVAILABLE", ofSocket.code());
    assertEquals(ms(16), waited(ofSocket, 0, LONG_MS));
  }

  /** Answers nothing before it is told to. */
  private static final class Held extends RecallServiceGrpc.RecallServiceImplBase {
    final CountDownLatch begun;
    final CountDownLatch free = new CountDownLatch(1);

    Held(int streams) {
      begun = new CountDownLatch(streams);
    }

    @Override
    public void recall(RecallRequest request, StreamObserver<RecallResponse> answer) {
      begun.countDown();
      try {
        free.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      answer.onNext(RecallResponse.getDefaultInstance());
      answer.onCompleted();
    }
  }

  @Test
  void callsBeyondTheStreamsOfAConnectionWaitUntilTheirDeadline() throws Exception {
    int streams = 4;
    Held held = new Held(streams);
    ExecutorService threads = Executors.newCachedThreadPool();
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
            .maxConcurrentCallsPerConnection(streams)
            .executor(threads)
            .addService(held)
            .build()
            .start();
    RecallRequest request = RecallRequest.newBuilder().setUserId("1").build();
    Duration deadline = Duration.ofMillis(LONG_MS);
    try (TesseraClient client =
        new TesseraClient(Connection.plain("127.0.0.1:" + server.getPort()))) {
      List<CompletableFuture<RecallResponse>> asked = new ArrayList<>();
      for (int call = 0; call < streams; call++) {
        asked.add(
            CompletableFuture.supplyAsync(() -> client.recall(request, deadline), threads));
      }
      held.begun.await();
      TesseraException late =
          assertThrows(
              TesseraException.class, () -> client.recall(request, Duration.ofMillis(50)));
      assertEquals("DEADLINE_EXCEEDED", late.code());
      asked.add(CompletableFuture.supplyAsync(() -> client.recall(request, deadline), threads));
      held.free.countDown();
      asked.forEach(CompletableFuture::join);
    } finally {
      held.free.countDown();
      server.shutdownNow();
      threads.shutdownNow();
    }
  }
}

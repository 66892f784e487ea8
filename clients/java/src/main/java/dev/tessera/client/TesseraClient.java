package dev.tessera.client;

import dev.tessera.behaviour.v1.AppendOutcome;
import dev.tessera.behaviour.v1.AppendRequest;
import dev.tessera.behaviour.v1.Behaviour;
import dev.tessera.behaviour.v1.BehaviourServiceGrpc;
import dev.tessera.behaviour.v1.EraseRequest;
import dev.tessera.behaviour.v1.HistoryRequest;
import dev.tessera.behaviour.v1.HistoryResponse;
import dev.tessera.catalogue.v1.ApplyRequest;
import dev.tessera.catalogue.v1.ApplyResponse;
import dev.tessera.catalogue.v1.CatalogueServiceGrpc;
import dev.tessera.catalogue.v1.Change;
import dev.tessera.embedding.v1.EmbedRequest;
import dev.tessera.embedding.v1.EmbedResponse;
import dev.tessera.embedding.v1.EmbeddingServiceGrpc;
import dev.tessera.ranking.v1.RankRequest;
import dev.tessera.ranking.v1.RankResponse;
import dev.tessera.ranking.v1.RankingServiceGrpc;
import dev.tessera.recall.v1.RecallRequest;
import dev.tessera.recall.v1.RecallResponse;
import dev.tessera.recall.v1.RecallServiceGrpc;
import dev.tessera.relevance.v1.RelevanceServiceGrpc;
import dev.tessera.relevance.v1.RelevanceServiceScoreRequest;
import dev.tessera.relevance.v1.RelevanceServiceScoreResponse;
import dev.tessera.score.v1.ScoreRequest;
import dev.tessera.score.v1.ScoreResponse;
import dev.tessera.score.v1.ScoreServiceGrpc;
import io.grpc.CallCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * One channel to a service; threads may share it. Nothing is connected before the first call.
 *
 * <p>Every call has a deadline, repeats included: what the service refuses for now is asked again
 * when the service says that it may succeed, as long as the deadline and the client's budget of
 * repeats allow. Calls throw TesseraException.
 */
public final class TesseraClient implements AutoCloseable {
  private final ManagedChannel channel;
  private final CallCredentials token;
  private final Retries retries = new Retries();

  public TesseraClient(Connection connection) throws IOException {
    channel = connection.open();
    token = connection.token();
  }

  /** Which live items fit a user. */
  public RecallResponse recall(RecallRequest request, Duration deadline) {
    return call(RecallServiceGrpc.newBlockingStub(channel), deadline, at -> at.recall(request));
  }

  /**
   * As recall; where it fails for now (overload, deadline, no connection), what {@code fallback}
   * makes of the error. A fault of the request is thrown all the same.
   */
  public RecallResponse recallOr(
      RecallRequest request,
      Duration deadline,
      Function<TesseraException, RecallResponse> fallback) {
    try {
      return recall(request, deadline);
    } catch (TesseraException failed) {
      boolean isLate = failed.code().equals(TesseraException.DEADLINE_EXCEEDED);
      if (failed.retryable() || isLate) {
        return fallback.apply(failed);
      }
      throw failed;
    }
  }

  /** Log-probabilities of items for a user, in their order. */
  public ScoreResponse score(ScoreRequest request, Duration deadline) {
    return call(ScoreServiceGrpc.newBlockingStub(channel), deadline, at -> at.score(request));
  }

  /** What heads say of items for a user, best first. */
  public RankResponse rank(RankRequest request, Duration deadline) {
    return call(RankingServiceGrpc.newBlockingStub(channel), deadline, at -> at.rank(request));
  }

  /** Vectors of texts: little-endian numbers in the order of the texts. */
  public EmbedResponse embed(EmbedRequest request, Duration deadline) {
    return call(EmbeddingServiceGrpc.newBlockingStub(channel), deadline, at -> at.embed(request));
  }

  /**
   * How well documents fit a query, in their order, by the model with the request's adapter or alone.
   */
  public RelevanceServiceScoreResponse relevance(
      RelevanceServiceScoreRequest request, Duration deadline) {
    return call(RelevanceServiceGrpc.newBlockingStub(channel), deadline, at -> at.score(request));
  }

  /** Writes behaviours; an event ID counts once, so that a repeat is harmless. */
  public List<AppendOutcome> append(List<Behaviour> behaviours, Duration deadline) {
    AppendRequest request = AppendRequest.newBuilder().addAllBehaviours(behaviours).build();
    return call(behaviours(), deadline, at -> at.append(request)).getOutcomesList();
  }

  /** The newest behaviours of a user, oldest first, and the profile. */
  public HistoryResponse history(HistoryRequest request, Duration deadline) {
    return call(behaviours(), deadline, at -> at.history(request));
  }

  /** Erases a user everywhere; whether the service knew the user. */
  public boolean erase(String userId, Duration deadline) {
    EraseRequest request = EraseRequest.newBuilder().setUserId(userId).build();
    return call(behaviours(), deadline, at -> at.erase(request)).getKnown();
  }

  /**
   * Applies changes of a catalogue (empty: the first), all or none. The answer has the sequence
   * number, by which the versions of a recall say whether it knows them, and how many items each
   * change by a predicate matched.
   */
  public ApplyResponse apply(String catalogue, List<Change> changes, Duration deadline) {
    ApplyRequest request =
        ApplyRequest.newBuilder().setCatalogue(catalogue).addAllChanges(changes).build();
    return call(CatalogueServiceGrpc.newBlockingStub(channel), deadline, at -> at.apply(request));
  }

  /** Whether the service is there and ready (grpc.health.v1). */
  public boolean serving(Duration deadline) {
    HealthCheckRequest request = HealthCheckRequest.getDefaultInstance();
    try {
      return call(HealthGrpc.newBlockingStub(channel), deadline, at -> at.check(request))
              .getStatus()
          == ServingStatus.SERVING;
    } catch (TesseraException failed) {
      return false;
    }
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private BehaviourServiceGrpc.BehaviourServiceBlockingStub behaviours() {
    return BehaviourServiceGrpc.newBlockingStub(channel);
  }

  private <Stub extends AbstractStub<Stub>, Answer> Answer call(
      Stub stub, Duration deadline, Function<Stub, Answer> ask) {
    Stub own = token == null ? stub : stub.withCallCredentials(token);
    return retries.within(
        deadline,
        left -> ask.apply(own.withDeadlineAfter(left.toNanos(), TimeUnit.NANOSECONDS)));
  }
}

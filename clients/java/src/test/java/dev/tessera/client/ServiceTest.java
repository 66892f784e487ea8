package dev.tessera.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tessera.behaviour.v1.AppendOutcome;
import dev.tessera.behaviour.v1.Behaviour;
import dev.tessera.behaviour.v1.HistoryRequest;
import dev.tessera.embedding.v1.EmbedRequest;
import dev.tessera.embedding.v1.EmbedResponse;
import dev.tessera.recall.v1.RecallRequest;
import dev.tessera.recall.v1.RecallResponse;
import dev.tessera.relevance.v1.Document;
import dev.tessera.relevance.v1.RelevanceServiceScoreRequest;
import dev.tessera.relevance.v1.RelevanceServiceScoreResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Against a service that runs at TESSERA_ADDRESS. */
class ServiceTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private static TesseraClient served() throws IOException {
    return new TesseraClient(Connection.plain(System.getenv("TESSERA_ADDRESS")));
  }

  private static RecallRequest ofUser(int count) {
    return RecallRequest.newBuilder().setUserId("1").setResultCount(count).build();
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "TESSERA_ADDRESS", matches = ".+")
  void recallsAUserAndNamesTheFieldAtFault() throws IOException {
    try (TesseraClient client = served()) {
      assertTrue(client.serving(LONG));
      assertEquals(5, client.recall(ofUser(5), LONG).getItemsCount());
      TesseraException failed =
          assertThrows(
              TesseraException.class, () -> client.recall(ofUser(1_000_000), LONG));
      assertEquals("REQUEST_INVALID", failed.code());
      assertEquals("result_count", failed.field());
      assertFalse(failed.retryable());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "TESSERA_ADDRESS", matches = ".+")
  void embedsAndJudgesTexts() throws IOException {
    EmbedRequest texts = EmbedRequest.newBuilder().addTexts("cream").addTexts("balm").build();
    RelevanceServiceScoreRequest pairs =
        RelevanceServiceScoreRequest.newBuilder()
            .setQuery("cream")
            .addDocuments(Document.newBuilder().setText("hand cream"))
            .build();
    try (TesseraClient client = served()) {
      EmbedResponse made = client.embed(texts, LONG);
      assertEquals(2 * 4 * made.getDimensions(), made.getVectors().size());
      RelevanceServiceScoreResponse judged = client.relevance(pairs, LONG);
      assertTrue(judged.getDocuments(0).hasScore());
      RelevanceServiceScoreRequest adapted = pairs.toBuilder().setAdapter("fits").build();
      RelevanceServiceScoreResponse other = client.relevance(adapted, LONG);
      assertFalse(other.getVersions().getAdapter().isEmpty());
      assertNotEquals(judged.getDocuments(0).getScore(), other.getDocuments(0).getScore());
      RelevanceServiceScoreRequest unknown = pairs.toBuilder().setAdapter("other").build();
      TesseraException failed =
          assertThrows(TesseraException.class, () -> client.relevance(unknown, LONG));
      assertEquals("ADAPTER_NOT_FOUND", failed.code());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "TESSERA_ADDRESS", matches = ".+")
  void writesReadsAndErasesAUser() throws IOException {
    Behaviour click =
        Behaviour.newBuilder()
            .setUserId("of-java")
            .setEventId("a")
            .setItemId("75")
            .setAction("click")
            .setTimeMs(System.currentTimeMillis())
            .build();
    HistoryRequest history = HistoryRequest.newBuilder().setUserId("of-java").build();
    try (TesseraClient client = served()) {
      assertEquals(
          List.of(AppendOutcome.APPEND_OUTCOME_ADDED), client.append(List.of(click), LONG));
      assertEquals(1, client.history(history, LONG).getBehavioursCount());
      assertTrue(client.erase("of-java", LONG));
      assertFalse(client.erase("of-java", LONG));
    }
  }

  @Test
  void fallsBackWhereNobodyListens() throws IOException {
    try (TesseraClient client = new TesseraClient(Connection.plain("127.0.0.1:1"))) {
      RecallResponse answer =
          client.recallOr(
              ofUser(1),
              Duration.ofMillis(200),
              failed -> RecallResponse.newBuilder().setFallback(failed.code()).build());
      assertFalse(answer.getFallback().isEmpty());
    }
  }
}

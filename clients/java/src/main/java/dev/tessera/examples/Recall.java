package dev.tessera.examples;

import dev.tessera.client.Connection;
import dev.tessera.client.TesseraClient;
import dev.tessera.client.TesseraException;
import dev.tessera.recall.v1.RecallRequest;
import dev.tessera.recall.v1.RecallResponse;
import dev.tessera.recall.v1.RecalledItem;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Asks which ads to show a user: mvn -q compile exec:java -Dexec.args="ADDRESS USER". ADDRESS is
 * TESSERA_ADDRESS where it is left out, else 127.0.0.1:50051.
 */
public final class Recall {
  private static final List<String> POPULAR = List.of("1", "2", "3");

  private static TesseraException failure;

  private Recall() {}

  /** What a page shows where there is no answer in time. */
  private static RecallResponse popular(TesseraException failed) {
    failure = failed;
    RecallResponse.Builder answer = RecallResponse.newBuilder().setFallback(failed.code());
    for (String item : POPULAR) {
      answer.addItems(RecalledItem.newBuilder().setItemId(item));
    }
    return answer.build();
  }

  public static void main(String[] arguments) throws IOException {
    String named = System.getenv().getOrDefault("TESSERA_ADDRESS", "127.0.0.1:50051");
    String address = arguments.length > 0 ? arguments[0] : named;
    String user = arguments.length > 1 ? arguments[1] : "1";
    // #region recall
    try (TesseraClient client = new TesseraClient(Connection.plain(address))) {
      RecallRequest request =
          RecallRequest.newBuilder().setUserId(user).setResultCount(3).build();
      // Connects and loads the classes of a call, which takes longer than a page may wait.
      client.serving(Duration.ofSeconds(30));
      RecallResponse answer = client.recallOr(request, Duration.ofSeconds(2), Recall::popular);
      for (RecalledItem item : answer.getItemsList()) {
        System.out.printf("%s\t%.3f\t%s%n", item.getItemId(), item.getScore(), item.getTitle());
      }
    }
    // #endregion recall
    if (failure != null) {
      System.err.println("fallback: no answer of " + address + ": " + failure.getMessage());
      System.exit(1);
    }
  }
}

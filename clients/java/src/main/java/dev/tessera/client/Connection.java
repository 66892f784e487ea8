package dev.tessera.client;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * How a service is reached. Files are in PEM; null: none. A token's file is read for each call, so
 * that one that was replaced is used.
 */
public record Connection(
    String address, boolean tls, Path ca, Path certificate, Path key, Path tokenFile) {
  private static final int MESSAGE_BYTES_MAX = 64 << 20;
  private static final long KEEPALIVE_SECONDS = 30;
  private static final long KEEPALIVE_TIMEOUT_SECONDS = 10;
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Without TLS and token. {@code address}: host:port, or a target such as dns:///ads:50051. */
  public static Connection plain(String address) {
    return new Connection(address, false, null, null, null, null);
  }

  /** Calls go round all addresses whose health says that they serve. */
  ManagedChannel open() throws IOException {
    Map<String, ?> service =
        Map.of(
            "loadBalancingConfig", List.of(Map.of("round_robin", Map.of())),
            "healthCheckConfig", Map.of("serviceName", ""));
    return Grpc.newChannelBuilder(address, credentials())
        .defaultServiceConfig(service)
        .disableRetry()
        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
        .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .build();
  }

  private ChannelCredentials credentials() throws IOException {
    if (!tls) {
      return InsecureChannelCredentials.create();
    }
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "tls: expected both certificate and key, got one of them");
    }
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    if (ca != null) {
      builder.trustManager(ca.toFile());
    }
    if (certificate != null) {
      builder.keyManager(certificate.toFile(), key.toFile());
    }
    return builder.build();
  }

  /** Null where no token is configured. */
  CallCredentials token() {
    if (tokenFile == null) {
      return null;
    }
    return new CallCredentials() {
      @Override
      public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier out) {
        executor.execute(
            () -> {
              try {
                Metadata metadata = new Metadata();
                metadata.put(AUTHORIZATION, "Bearer " + Files.readString(tokenFile).strip());
                out.apply(metadata);
              } catch (IOException unreadable) {
                out.fail(Status.UNAUTHENTICATED.withCause(unreadable));
              }
            });
      }
    };
  }
}

package dev.tessera.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;

/** A call that failed. */
public final class TesseraException extends RuntimeException {
  static final String DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED";

  /** Statuses of gRPC itself, where the service said nothing. */
  private static final Map<Status.Code, String> OF_TRANSPORT =
      Map.of(
          Status.Code.UNAVAILABLE, "ENGINE_UNAVAILABLE",
          Status.Code.DEADLINE_EXCEEDED, DEADLINE_EXCEEDED,
          Status.Code.CANCELLED, "CANCELLED",
          Status.Code.UNIMPLEMENTED, "ROUTE_NOT_FOUND");

  /** Trailer with a google.rpc.Status. */
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** A day: longer than any deadline, and short enough to be multiplied. */
  private static final Duration HINT_MAX = Duration.ofDays(1);

  private final String code;
  private final String field;
  private final Duration retryAfter;
  private final boolean retryable;

  TesseraException(
      String code, String message, String field, Duration retryAfter, boolean retryable,
      Throwable cause) {
    super(code + ": " + message, cause);
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
    this.retryable = retryable;
  }

  /** A row of docs/operate/errors.md. */
  public String code() {
    return code;
  }

  /** Path of the field at fault, as the proto files spell it; empty for none. */
  public String field() {
    return field;
  }

  /** When a retry may succeed; zero: no hint. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** Whether the same call may succeed later. */
  public boolean retryable() {
    return retryable;
  }

  /**
   * Tells a handshake that can never succeed (a certificate that is missing, an authority that is
   * not known) from a service that is away: gRPC has one status for both.
   */
  private static boolean isOfTls(Throwable failed) {
    for (Throwable one = failed; one != null; one = one.getCause()) {
      if (one instanceof SSLException) {
        return true;
      }
    }
    return false;
  }

  /** Reads google.rpc's details of a failed call, or its status where none can be read. */
  static TesseraException of(StatusRuntimeException failed) {
    String code = null;
    String field = "";
    Duration retryAfter = Duration.ZERO;
    boolean retryable = false;
    for (Any detail : detailsOf(failed)) {
      try {
        if (detail.is(ErrorInfo.class)) {
          ErrorInfo info = detail.unpack(ErrorInfo.class);
          code = info.getReason().isEmpty() ? null : info.getReason();
          retryable = "true".equals(info.getMetadataMap().get("retryable"));
        } else if (detail.is(BadRequest.class)) {
          BadRequest request = detail.unpack(BadRequest.class);
          if (request.getFieldViolationsCount() > 0) {
            field = request.getFieldViolations(0).getField();
          }
        } else if (detail.is(RetryInfo.class)) {
          retryAfter = hintOf(detail.unpack(RetryInfo.class));
        }
      } catch (InvalidProtocolBufferException malformed) {
        failed.addSuppressed(malformed);
      }
    }
    Status status = failed.getStatus();
    if (code == null) {
      code = OF_TRANSPORT.getOrDefault(status.getCode(), "INTERNAL");
      retryable = status.getCode() == Status.Code.UNAVAILABLE;
      if (retryable && isOfTls(failed)) {
        code = "UNAUTHENTICATED";
        retryable = false;
      }
    }
    return new TesseraException(
        code, String.valueOf(status.getDescription()), field, retryAfter, retryable, failed);
  }

  /**
   * Details are read here, as StatusProto throws IllegalArgumentException for bytes that are no message and for
   * a code that is not the status's.
   */
  private static List<Any> detailsOf(StatusRuntimeException failed) {
    Metadata trailers = failed.getTrailers();
    byte[] said = trailers == null ? null : trailers.get(DETAILS);
    try {
      return said == null ? List.of() : com.google.rpc.Status.parseFrom(said).getDetailsList();
    } catch (InvalidProtocolBufferException malformed) {
      failed.addSuppressed(malformed);
      return List.of();
    }
  }

  /** Zero where the delay is no positive time. */
  private static Duration hintOf(RetryInfo retry) {
    long seconds = Math.min(retry.getRetryDelay().getSeconds(), HINT_MAX.toSeconds());
    if (seconds < 0) {
      return Duration.ZERO;
    }
    Duration hint = Duration.ofSeconds(seconds, retry.getRetryDelay().getNanos());
    if (hint.isNegative()) {
      return Duration.ZERO;
    }
    return hint.compareTo(HINT_MAX) < 0 ? hint : HINT_MAX;
  }
}

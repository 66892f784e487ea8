# The image: `docker buildx build -t tessera .`; with kernels for cards: `--build-arg ENGINE=cuda`
# (docs/operate/image.md).
ARG ENGINE=cpu

FROM debian:12-slim AS sources
WORKDIR /src
RUN apt-get update -q && apt-get install -q -y --no-install-recommends \
      ca-certificates curl git g++ cmake ninja-build npm \
      libxxhash-dev libroaring-dev libre2-dev librocksdb-dev
COPY . .

FROM sources AS cpu
RUN npm run bootstrap

FROM sources AS cuda
# The CUDA toolkit is there for this step alone.
RUN --mount=from=nvidia/cuda:13.0.1-devel-ubuntu22.04,source=/usr/local/cuda-13.0,target=/usr/local/cuda \
    npm run bootstrap -- --cuda

FROM ${ENGINE} AS build
# The time of the bill of materials, which the build's context has no history for.
ARG SOURCE_DATE_EPOCH=0
RUN npm run image-root -- /root-of-image

FROM scratch AS image
# The base changes with Debian and Node alone.
COPY --from=build --chown=0:0 /root-of-image/base /
COPY --from=build --chown=0:0 /root-of-image/release /
COPY --from=build --chown=10001:10001 /root-of-image/release/app/data /app/data
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="tessera" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin:/usr/bin NODE_ENV=production
USER 10001:10001
WORKDIR /app
VOLUME /app/data
EXPOSE 8080 50051
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "bin/health.mjs"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "dist/apps/standalone/src/main.js"]

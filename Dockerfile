# kimi-tui in a container: docker build -t kimi-tui .
#   docker run --rm -it -v "$PWD:/work" -v kimi-tui:/data -e KIMI_API_KEY kimi-tui
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir --prefix=/install --requirement requirements.txt \
    && pip install --no-cache-dir --prefix=/install --no-deps .

FROM python:3.13-slim
# The base image decides the versions.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 agent \
    && mkdir /data /work \
    && chown agent:agent /data /work
COPY --from=build /install /usr/local
ENV KIMI_SHARE_DIR=/data \
    LANG=C.UTF-8 \
    TERM=xterm-256color
USER 1000
WORKDIR /work
VOLUME ["/data"]
ENTRYPOINT ["kimi-tui"]

# One image for every process and command: docker build -t millrace . (docs/guide/docker.md)
ARG BASE=node:20-bookworm-slim

FROM ${BASE} AS package
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --silent --pack-destination /tmp && tar -xzf /tmp/millrace-*.tgz -C /

FROM ${BASE} AS modules
WORKDIR /package
COPY package.json package-lock.json .npmrc ./
# The HTTP library has a binary for every system and every version of Node. Only one of them is needed here.
RUN npm ci --omit=dev --no-audit --no-fund --ignore-scripts \
  && find node_modules/uWebSockets.js -name '*.node' ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete

FROM ${BASE}
# HEALTHCHECK uses METRICS_PORT, which every process has. A front also listens on PORT, and a worker on WORKER_PORT.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 METRICS_PORT=9100 WORKER_HOST=0.0.0.0 WORKER_PORT=4100 CONFIG_DIR=/config SNAPSHOT_DIR=/var/lib/millrace
WORKDIR /srv/millrace
COPY --from=modules /package/node_modules ./node_modules
COPY --from=package /package ./
RUN mkdir -p /config /var/lib/millrace && chown 1000:1000 /var/lib/millrace
USER 1000:1000
EXPOSE 4000 4100 9100
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "docs/operations/container-health.mjs"]
ENTRYPOINT ["sh", "docs/operations/container.sh"]
CMD ["web"]

/** The state of a service: its options, and the accounts, the lake and the caches that it opens. */
import { tmpdir } from "node:os";
import type Koa from "koa";
import type { Logger } from "pino";
import { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../accounts/clock.ts";
import { adjustmentOf } from "../../accounts/ledger/charging.ts";
import { exportUnitRows } from "../../accounts/policy/prices.ts";
import { VisitLimits } from "../../accounts/policy/visit-limits.ts";
import { Sessions, SignIn } from "../../accounts/sign-in/sign-in.ts";
import { UsageError } from "../../base/user-error.ts";
import { exportMemory } from "../../export/limits.ts";
import { TableEncoder } from "../../formats/table-encoder.ts";
import type { FileMapping } from "../../ingest/mapping/rules.ts";
import { Admission, type AdmissionLimits } from "../../operations/admission.ts";
import { ResponseCache } from "../../operations/response-cache.ts";
import { CurrentVersion } from "../../serving/current-version.ts";
import type { LakeVersionOptions } from "../../serving/lake-version.ts";
import type { RequestState } from "../context.ts";
import type { SqlServices } from "../exports/respond-with-sql.ts";
import { Spool, type SpoolLimits } from "../exports/spool.ts";
import type { SendRequest } from "../inner-requests.ts";
import type { CallOperation } from "../internal-calls.ts";
import {
  accountExportsMax,
  connectionsPerAddressMax,
  exportDeadlineMs,
  exportsMax,
  responseCacheBytesMax,
  spoolAgeMs,
  spoolBytesMax,
  waitingExportsMax,
} from "../limits.ts";
import { AuthorizationServer } from "../oauth/authorization-server.ts";
import { PageCharges } from "../page-charges.ts";
import type { PipelineServices } from "../pipeline.ts";
import { type WebhookOptions, webhookFault } from "../searches/deliver.ts";
import {
  type ConnectionLimits,
  Connections,
  connectionsWithin,
  descriptorLimit,
  healthConnectionsMax,
} from "./connections.ts";
import { Freshness, type FreshnessOptions } from "./freshness.ts";
import type { Readiness } from "./health.ts";
import type { HttpServerOptions } from "./http-server.ts";
import { Metrics } from "./metrics.ts";
import { systemClock } from "./system-clock.ts";

/** When charges are written to disk: within 100 ms after they are answered, or each before. */
export const chargeFlushes = ["interval", "each"] as const;
export type ChargeFlush = (typeof chargeFlushes)[number];

/** How the pages show photos of dealers: not at all, or as browsers load them from the dealers' hosts, without a referrer. */
export type PhotoMode = "off" | "direct";

export interface ServeOptions
  extends LakeVersionOptions,
    AdmissionLimits,
    HttpServerOptions,
    Partial<Pick<ConnectionLimits, "connectionsMax">> {
  readonly lake: string;
  /** The accounts file, or the URL of a PostgreSQL database; accounts are created if there are none. */
  readonly accounts: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly logger: Logger;
  /** Number of reverse proxies whose `X-Forwarded-*` headers are trusted. 0 by default. */
  readonly trustedProxies?: number;
  readonly clock?: Clock;
  /** When charges are written to disk: within 100 ms by default. */
  readonly chargeFlush?: ChargeFlush;
  /** The most open connections of one client address; 0 for no limit. Does not apply behind a trusted proxy. */
  readonly connectionsPerAddress?: number;
  /** How long a stopping service continues to accept requests. 0 by default. */
  readonly drainDelayMs?: number;
  /** How long it then waits for requests in flight. */
  readonly drainTimeoutMs?: number;
  /** Size of the response cache; 0 disables it. */
  readonly responseCacheBytes?: number;
  /** Port of the metrics server; 0 for any free port. Without it, no metrics are served. */
  readonly metricsPort?: number | undefined;
  /** Returns the number of log lines that were dropped, for the metrics. */
  readonly droppedLogLines?: () => number;
  /** Limits of exports. */
  readonly exports?: Partial<ExportSettings>;
  /** How long after the beginning of its as-of date a version is overdue for the next one; 0 for never. By default that follows from the published days. */
  readonly overdueMs?: number | undefined;
  /** The URL that clients use, if it differs from the address listened on. */
  readonly publicUrl?: string;
  /** The origins whose pages may call the API and the agent server; `*` for any. None by default. */
  readonly corsOrigins?: readonly string[];
  /** The account of the demo, which a browser on the same machine opens without a password; none by default. */
  readonly demoAccountId?: string | undefined;
  /** A key of that account, which its pages fill in. */
  readonly demoKey?: string | undefined;
  /** Whether pages of the explorer are free. */
  readonly isExplorerFree?: boolean;
  /** Whether requests need no key, and nothing is charged: on one's own machine or network. */
  readonly isOpen?: boolean;
  /** Whether webhooks of saved searches may have any address, also one in the service's own network. Only public ones by default. */
  readonly privateWebhooks?: boolean;
  /** `off` by default. */
  readonly photos?: PhotoMode;
  /** Fetches client ID metadata documents; from public addresses only by default. */
  readonly fetchDocument?: typeof fetch;
  /** The queue that sources are fetched into beside the service; none by default. */
  readonly queue?: string;
  /** The sources whose feeds are fetched beside the service; none by default. */
  readonly sourceMappings?: SourceMappings;
  /** Adds the middleware of the web application; none by default. */
  readonly mountSite?: (app: Koa<RequestState>, services: SiteServices) => void;
}

/** The mappings of sources, which operators save. */
export interface SourceMappings {
  /** Returns the names of the sources. Throws a UserError if their file is invalid. */
  readonly names: () => Promise<readonly string[]>;
  /** Saves the mapping of a source; returns its path. Throws a UserError for an unknown source, and if a file cannot be written. */
  readonly save: (name: string, content: FileMapping) => Promise<string>;
}

/** The services that the web application and the agent server use. */
export interface SiteServices extends Pick<PipelineServices, "exports" | "exportAdmission" | "webhookFault"> {
  readonly publicUrl: string | undefined;
  /** The queue that sources are fetched into beside the service. */
  readonly queue: string | undefined;
  /** The account that browsers on this machine open without a password, and its key, which they see. */
  readonly demoAccountId: string | undefined;
  readonly demoKey: string | undefined;
  readonly isExplorerFree: boolean;
  /** The name or address that the service listens on. */
  readonly host: string;
  readonly corsOrigins: readonly string[];
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly visits: VisitLimits;
  readonly signIn: SignIn;
  readonly authorization: AuthorizationServer;
  readonly current: CurrentVersion;
  readonly freshness: Freshness;
  readonly photos: PhotoMode;
  readonly sourceMappings: SourceMappings | undefined;
  readonly callOperation: CallOperation;
  readonly sendRequest: SendRequest;
  readonly readiness: () => Readiness;
}

/** Limits of exports. */
interface ExportSettings
  extends SpoolLimits,
    Pick<SqlServices, "memory" | "quickRowsMax" | "deadlineMs" | "sqlDeadlineMs"> {
  /** The most exports of one account in progress, until the last byte is sent. */
  readonly accountMax: number;
}

/** Services of the application, its connections, and whether it is shutting down. */
export interface AppState extends PipelineServices {
  readonly encoder: TableEncoder;
  readonly connections: Connections;
  readonly metrics: Metrics;
  readonly freshness: Freshness;
  readonly sessions: Sessions;
  readonly visits: VisitLimits;
  readonly pageCharges: PageCharges;
  readonly signIn: SignIn;
  readonly authorization: AuthorizationServer;
  isStopping: boolean;
  /** Whether requests are refused, before a stopping service behind a proxy closes its port. */
  isRefusing: boolean;
  /** Without a proxy: settles when the port of a stopping service is closed; requests wait for it. */
  held: Promise<void> | undefined;
  /** The URL that clients use, without a path: the public one, or that of the socket, once it listens. */
  baseUrl: string;
}

/** Opens the accounts file and the lake. */
export async function openState(options: ServeOptions): Promise<AppState> {
  const { responseCacheBytes = responseCacheBytesMax, droppedLogLines = () => 0 } = options;
  if (options.isOpen === true) requireOwnNetwork(options);
  const baseUrl = options.publicUrl === undefined ? "" : publicOriginOf(options.publicUrl);
  const metrics = new Metrics();
  const accounts = await openAccounts(options, metrics);
  const responseCache = new ResponseCache(responseCacheBytes);
  const exportSettings = exportSettingsOf(options);
  const spool = new Spool(exportSettings);
  const encoder = new TableEncoder();
  const lakeOptions = { ...options, onStatement: metrics.addStatement, writableFolders: [spool.folder] };
  const current = await watchLake(lakeOptions, responseCache);
  const connections = new Connections(connectionLimits(options));
  const freshness = await Freshness.watch(current, freshnessOptions(options));
  metrics.readFrom({ current, responseCache, accounts, connections, freshness, droppedLogLines });
  const { accountMax: concurrentRequests, deadlineMs } = exportSettings;
  const { clock = systemClock, fetchDocument } = options;
  const oauth = { accounts, clock, baseUrl: () => state.baseUrl, ...(fetchDocument && { fetchDocument }) };
  const state: AppState = {
    current,
    responseCache,
    accounts,
    metrics,
    freshness,
    connections,
    baseUrl,
    admission: new Admission(accounts, options),
    isStopping: false,
    isRefusing: false,
    held: undefined,
    webhookFault: (url) => webhookFault(url, webhooksOf(options)),
    encoder,
    sessions: new Sessions(accounts.administration),
    visits: new VisitLimits(() => clock.monotonicMs()),
    pageCharges: new PageCharges(options.isExplorerFree ?? false, () => clock.monotonicMs()),
    signIn: new SignIn(accounts.administration, clock),
    authorization: new AuthorizationServer(oauth),
    exports: { lake: options.lake, current, accounts, spool, encoder, ...exportSettings },
    exportAdmission: new Admission(accounts, { ...options, concurrentRequests, deadlineMs }),
  };
  return state;
}

export const webhooksOf = ({ privateWebhooks = false }: ServeOptions): WebhookOptions => ({
  arePrivateAllowed: privateWebhooks,
});

/** Throws a UsageError if a service without keys is to listen on all addresses of a machine, or to serve pages of any origin. */
export function requireOwnNetwork({ host, corsOrigins = [] }: Pick<ServeOptions, "host" | "corsOrigins">): void {
  if (isEveryAddress(host))
    throw new UsageError(
      `Invalid host ${host} for --auth=off: expected one address, such as 127.0.0.1, instead of all.`,
    );
  if (corsOrigins.includes("*"))
    throw new UsageError(
      "Invalid --cors-origin * for --auth=off: expected origins, because any page could read the data.",
    );
}

/** Returns whether a host, in any spelling such as `0` or `::0`, stands for all addresses of the machine. */
function isEveryAddress(host: string): boolean {
  const url = `http://${host.includes(":") ? `[${host}]` : host}`;
  if (!URL.canParse(url)) return host === "";
  return ["0.0.0.0", "[::]", "[::ffff:0:0]", "*"].includes(new URL(url).hostname);
}

/** Returns the origin of the public URL. Throws a UsageError if it is not one of the web, or has more than an origin. */
export function publicOriginOf(publicUrl: string): string {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new UsageError(
    `Invalid public URL ${publicUrl}: expected an address without a path, such as https://cars.example.`,
  );
}

const exportSettingsOf = ({ exports }: ServeOptions): ExportSettings => ({
  folder: tmpdir(),
  bytesMax: spoolBytesMax,
  ageMs: spoolAgeMs,
  writtenMax: exportsMax,
  waitingMax: waitingExportsMax,
  accountMax: accountExportsMax,
  memory: exportMemory,
  quickRowsMax: exportUnitRows,
  deadlineMs: exportDeadlineMs,
  sqlDeadlineMs: 0,
  ...exports,
});

/** Closes what `openState` opened. */
export const closeState = (state: AppState): Promise<unknown> => {
  const { freshness, current, accounts, encoder, exports } = state;
  freshness.stop();
  return Promise.all([current.close(), accounts.close(), encoder.close(), exports.spool.close()]);
};

const freshnessOptions = ({ lake, queue, logger, overdueMs, clock = systemClock }: ServeOptions): FreshnessOptions => ({
  lake,
  queue,
  logger,
  overdueMs,
  now: () => clock.wallMs(),
});

/** The total is derived from the limit of file descriptors. Connections of a trusted proxy are not those of one client. */
function connectionLimits({
  connectionsMax = connectionsWithin(descriptorLimit()),
  connectionsPerAddress: perAddressMax = connectionsPerAddressMax,
  trustedProxies = 0,
}: ServeOptions): ConnectionLimits {
  const limits = { connectionsMax, healthMax: healthConnectionsMax };
  return trustedProxies > 0 || perAddressMax === 0 ? limits : { ...limits, perAddressMax };
}

function watchLake(options: ServeOptions, responseCache: ResponseCache): Promise<CurrentVersion> {
  const { lake, logger } = options;
  return CurrentVersion.watch(lake, {
    ...options,
    onOpen: (version, served) => {
      logger.info({ version, ...served }, "version in service");
      // Opened again, it may have files that answers were computed without.
      responseCache.clear();
    },
    onRebuild: (message) => logger.warn({ error: message }, "serving file not in use"),
    onDamage: (fault) => {
      logger.error({ error: fault }, "damaged file");
      // A response may have been computed from the file after it was damaged.
      responseCache.clear();
    },
    onFailure: (version, message) =>
      logger.error({ version, error: message }, "version cannot be opened; the one in service stays, if there is one"),
  });
}

function openAccounts(
  { accounts, logger, clock = systemClock, chargeFlush = "interval", isOpen = false }: ServeOptions,
  metrics: Metrics,
): Promise<Accounts> {
  const onChange = (isDown: boolean, reason: string): void =>
    isDown
      ? logger.error({ error: reason }, "ledger unavailable; metered requests are refused")
      : logger.info("ledger available again");
  return Accounts.open(accounts, {
    clock,
    isEachFlushed: chargeFlush === "each",
    isOpen,
    onAvailabilityChange: onChange,
    onFlush: metrics.addFlush,
    onUndecided: (charge) => logger.error({ refund: adjustmentOf(charge) }, "request refused that may be charged"),
  });
}

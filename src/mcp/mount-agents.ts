/** The agent server: the Model Context Protocol over streamable HTTP at `/mcp`. It searches through the API's pipeline only. */
import type Koa from "koa";
import { createRouter, type RequestState } from "../http/context.ts";
import { refuseKeyInQuery } from "../http/middleware/refuse-requests.ts";
import type { SiteServices } from "../http/service/service-state.ts";
import type { AgentCharts } from "./chart-resource.ts";
import { identifyAgent } from "./identify-agent.ts";
import type { AgentServices } from "./respond-to-agent.ts";

/** Adds the agent server to a service. It passes requests for other paths on. */
export function mountAgents(app: Koa<RequestState>, services: SiteServices, charts?: AgentCharts): void {
  const router = createRouter();
  let agents: AgentServices | undefined;
  router.post("/mcp", refuseKeyInQuery, async (context) => {
    const identity = await identifyAgent(context, services);
    // Loads the SDK with the first request: most services start without it in half of the time that it takes.
    const { agentServicesOf, respondToAgent } = await import("./respond-to-agent.ts");
    agents ??= agentServicesOf(services, charts);
    await respondToAgent(context, identity, agents);
  });
  app.use(router.routes());
}

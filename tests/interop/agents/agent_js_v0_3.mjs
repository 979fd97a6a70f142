// An A2A 0.3 agent over JSON-RPC, HTTP+JSON and gRPC, made with the official JavaScript SDK 0.3.x.

import { randomUUID } from "node:crypto";

import {
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService } from "@a2a-js/sdk/server/grpc";
import { CARD, perform } from "./behaviours.mjs";
import { serve } from "./serving.mjs";

const FINAL = new Set(["completed", "failed", "input-required", "canceled"]);

class Executor {
  async execute(context, bus) {
    const ids = { taskId: context.taskId, contextId: context.contextId };
    const words = (text, more = {}) => ({
      kind: "message",
      messageId: randomUUID(),
      role: "agent",
      parts: [{ kind: "text", text }],
      contextId: context.contextId,
      ...more,
    });
    const status = (state, text) => ({
      state,
      timestamp: new Date().toISOString(),
      ...(text && { message: words(text, ids) }),
    });
    await perform({
      text: context.userMessage.parts.map((part) => part.text ?? "").join(""),
      answering: context.task !== undefined,
      reply: (text) => bus.publish(words(text)),
      begin: () =>
        bus.publish({
          kind: "task",
          id: ids.taskId,
          contextId: ids.contextId,
          status: status("submitted"),
          history: [context.userMessage],
        }),
      status: (state, text) =>
        bus.publish({ kind: "status-update", ...ids, status: status(state, text), final: FINAL.has(state) }),
      chunk: (text, append, lastChunk) =>
        bus.publish({
          kind: "artifact-update",
          ...ids,
          artifact: { artifactId: "chunks", name: "chunks", parts: [{ kind: "text", text }] },
          append,
          lastChunk,
        }),
    });
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    bus.publish({ kind: "status-update", taskId, contextId: "", status: { state: "canceled" }, final: true });
    bus.finished();
  }
}

await serve((application, calls, url, target) => {
  const card = {
    ...CARD,
    name: "interop agent JavaScript 0.3.x",
    protocolVersion: "0.3.0",
    url: `${url}/rpc`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: `${url}/rpc`, transport: "JSONRPC" },
      { url: `${url}/rest`, transport: "HTTP+JSON" },
      { url: target, transport: "GRPC" },
    ],
    capabilities: { streaming: true, pushNotifications: true },
  };
  const webhooks = new InMemoryPushNotificationStore();
  const sender = new DefaultPushNotificationSender(webhooks);
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new Executor(),
    undefined,
    webhooks,
    sender,
  );
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  application.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  application.use("/rpc", jsonRpcHandler(options));
  application.use("/rest", restHandler(options));
  calls.addService(A2AService, grpcService(options));
});

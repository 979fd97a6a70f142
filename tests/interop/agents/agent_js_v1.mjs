// An A2A 1.0 agent over JSON-RPC, HTTP+JSON and gRPC, made with the official JavaScript SDK 1.x.
// With the argument `no-capabilities`, its card declares no capability.

import { randomUUID } from "node:crypto";

import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService } from "@a2a-js/sdk/server/grpc";
import * as acts from "./acts.mjs";
import { CARD, perform } from "./behaviours.mjs";
import { serve } from "./serving.mjs";

const textOf = (message) => message.parts.map((part) => part.content?.value ?? "").join("");

class Executor {
  #canceled = new Set();

  async execute(context, bus) {
    const ids = { taskId: context.taskId, contextId: context.contextId };
    const words = (text, more = {}) => ({
      messageId: randomUUID(),
      role: "ROLE_AGENT",
      parts: [{ text }],
      contextId: context.contextId,
      ...more,
    });
    const status = (state, text) => ({
      state: `TASK_STATE_${state.toUpperCase().replace("-", "_")}`,
      timestamp: new Date().toISOString(),
      ...(text && { message: words(text, ids) }),
    });
    const artifact = (part, append, lastChunk, name = "output") =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...ids,
            artifact: { artifactId: name, name, parts: [part] },
            append,
            lastChunk,
          }),
        ),
      );
    const turn = {
      text: textOf(context.userMessage),
      answering: context.task !== undefined,
      reply: (text) => bus.publish(AgentEvent.message(Message.fromJSON(words(text)))),
      begin: () =>
        bus.publish(
          AgentEvent.task({
            ...Task.fromJSON({ id: ids.taskId, contextId: ids.contextId, status: status("submitted") }),
            history: [context.userMessage],
          }),
        ),
      status: (state, text) =>
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: status(state, text) }))),
      artifact,
      chunk: (text, append, lastChunk) => artifact({ text }, append, lastChunk, "chunks"),
      canceled: () => this.#canceled.has(context.taskId),
    };
    const first = context.task ? textOf(context.task.history[0]) : turn.text;
    await (first.startsWith(acts.PREFIX) ? acts.perform(turn, first) : perform(turn));
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    this.#canceled.add(taskId);
    bus.publish(
      AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, status: { state: "TASK_STATE_CANCELED" } })),
    );
    bus.finished();
  }
}

await serve((application, calls, url, target) => {
  const card = AgentCard.fromJSON({
    ...CARD,
    name: "interop agent JavaScript 1.x",
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: target, protocolBinding: "GRPC", protocolVersion: "1.0" },
    ],
    capabilities: process.argv.includes("no-capabilities") ? {} : { streaming: true, pushNotifications: true },
  });
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

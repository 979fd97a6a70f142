// An A2A 1.0 agent over JSON-RPC, HTTP+JSON and gRPC, made with the official JavaScript SDK 1.x.

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
import { CARD, perform } from "./behaviours.mjs";
import { serve } from "./serving.mjs";

class Executor {
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
    await perform({
      text: context.userMessage.parts.map((part) => part.content?.value ?? "").join(""),
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
      chunk: (text, append, lastChunk) =>
        bus.publish(
          AgentEvent.artifactUpdate(
            TaskArtifactUpdateEvent.fromJSON({
              ...ids,
              artifact: { artifactId: "chunks", name: "chunks", parts: [{ text }] },
              append,
              lastChunk,
            }),
          ),
        ),
    });
    bus.finished();
  }

  async cancelTask(taskId, bus) {
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
    capabilities: { streaming: true, pushNotifications: true },
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

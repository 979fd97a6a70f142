// The behaviours of the ACTS suite (its section 11.2) for the 1.0 agent, selected by the first word of a task's text.

import { setTimeout as sleep } from "node:timers/promises";

export const PREFIX = "tck-"; // the beginning of a text that selects one of these behaviours

const WORK = 4000; // milliseconds that a task runs so that a client can subscribe to it
const JOIN = 200; // milliseconds that a streamed task runs, so that a second client can subscribe to it
const FILE = { mediaType: "text/plain", filename: "output.txt" };
const ARTIFACTS = {
  "tck-artifact-text": { text: "Generated text content" },
  "tck-artifact-file": { raw: Buffer.from("Generated file content").toString("base64"), ...FILE },
  "tck-artifact-file-url": { url: "https://example.com/output.txt", ...FILE },
  "tck-artifact-data": { data: { key: "value", count: 42 } },
};
const STATES = {
  "tck-input-required": ["input-required", "Send more input."],
  "tck-auth-required": ["auth-required", "Authentication required."],
  "tck-reject-task": ["rejected", "rejected"],
  "tck-task-failure": ["failed", "failed"],
};

/**
 * Run the behaviour that `first` selects, the first text of the task; an unknown behaviour completes the task.
 *
 * `turn` has the members that `perform` of behaviours.mjs needs, and `canceled()`: whether the task was canceled.
 */
export async function perform(turn, first) {
  const [word] = first.split(" ");
  if (word === "tck-message-response") return turn.reply("Direct message response");
  if (!turn.answering) turn.begin();
  if (word in STATES) return turn.status(...STATES[word]);
  if (word === "tck-multi-turn" && turn.text.trim() !== "done") {
    return turn.status("input-required", "Send more input, or done.");
  }
  if (word === "tck-stream-basic") return work(turn, JOIN, { text: "Streamed content" });
  if (word === "tck-stream-chunked") return work(turn, 0, { text: "chunk-1 " }, { text: "chunk-2" });
  if (word === "tck-long-running") return work(turn, WORK, { text: "Generated text content" });
  if (word === "tck-cancel") return work(turn, 10 * WORK);
  if (word in ARTIFACTS) return work(turn, 0, ARTIFACTS[word]);
  return turn.status("completed", "Hello");
}

/** Work for a time, publish an artifact in chunks, and complete the task; stop if it is canceled. */
async function work(turn, milliseconds, ...chunks) {
  turn.status("working");
  for (let left = milliseconds; left > 0 && !turn.canceled(); left -= JOIN) await sleep(JOIN);
  if (turn.canceled()) return;
  chunks.forEach((part, index) => turn.artifact(part, index > 0, index === chunks.length - 1));
  turn.status("completed");
}

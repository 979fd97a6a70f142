// The behaviours of the agents for Node.js: the first word of a message selects a behaviour, as in behaviours.py.

import { setTimeout as sleep } from "node:timers/promises";

const PAUSE = 200; // milliseconds between the events of `push`, five of which take a second

export const SKILL = { id: "words", name: "Words", description: "echo, stream, input, fail, push", tags: ["test"] };

export const CARD = {
  description: "Runs the behaviour that the first word selects",
  version: "1.0.0",
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [SKILL],
};

/**
 * Run a behaviour: echo TEXT, stream N, input, fail or push; any other text is echoed.
 *
 * `turn` has the text of the message, whether it answers a task (`answering`), and functions that publish events:
 * `reply(text)`, `begin()`, `status(state, text)` and `chunk(text, append, last)`. States are those of 0.3.
 */
export async function perform(turn) {
  const [word, ...rest] = turn.text.trim().split(" ");
  if (turn.answering) {
    turn.status("completed", `your reply: ${turn.text}`);
  } else if (!["stream", "input", "fail", "push"].includes(word)) {
    turn.reply(word === "echo" ? rest.join(" ") : turn.text);
  } else {
    turn.begin();
    turn.status("working");
    if (word === "input") turn.status("input-required", "which color?");
    if (word === "fail") turn.status("failed", "failed as asked");
    if (word === "stream") await stream(turn, Number(rest[0]), 0);
    if (word === "push") await stream(turn, 5, PAUSE);
  }
}

async function stream(turn, chunks, pause) {
  for (let number = 1; number <= chunks; number += 1) {
    await sleep(pause);
    turn.chunk(`chunk ${number} `, number > 1, number === chunks);
  }
  turn.status("completed");
}
